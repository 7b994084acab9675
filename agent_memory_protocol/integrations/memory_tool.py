"""`MemoryTool` under its published name."""

from ..memory_tool.texts import MemoryToolError
from ..memory_tool.tool import MemoryTool

__all__ = ["MemoryTool", "MemoryToolError"]
