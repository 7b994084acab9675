"""Recall: the block of memory an agent starts its task with, within its budget."""
