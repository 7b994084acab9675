"""The tool of Anthropic's SDK under its published name."""

from ..memory_tool.sdk import AnthropicMemoryTool, AsyncAnthropicMemoryTool

__all__ = ["AnthropicMemoryTool", "AsyncAnthropicMemoryTool"]
