"""What must be fast, measured side by side: `python -m benchmarks` from the root of the repository."""
