"""Doors by which hosts and their agents reach memory: each speaks their language, and all go through `Workspace`."""
