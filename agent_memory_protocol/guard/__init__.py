"""The guard: does a tool call change memory, and may this agent do that?"""
