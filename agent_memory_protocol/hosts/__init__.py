"""Hosts of coding agents: what each one reads, what its hooks do, and how they are installed."""
