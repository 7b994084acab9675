"""The names by which programs import what stands in `memory_tool`."""
