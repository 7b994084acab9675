"""Records: facts with a state, a history and a signature, in the format fg-agent-memory/0.1 (decision 31)."""
