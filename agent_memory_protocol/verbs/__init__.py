"""The verbs: one module for each thing that people and agents do with Markdown memory."""
