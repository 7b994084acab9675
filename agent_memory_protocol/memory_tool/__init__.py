"""Anthropic's memory tool over this memory."""
