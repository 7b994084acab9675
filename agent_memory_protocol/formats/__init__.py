"""Formats carry memory between tools: one module reads and writes one of them."""
