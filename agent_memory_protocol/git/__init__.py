"""git: ask it, tell it what to ignore, and see what it has moved."""
