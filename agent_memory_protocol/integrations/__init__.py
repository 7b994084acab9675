"""The names by which programs import what is in `memory_tool`."""
