"""What must be fast, measured side by side: `python -m benchmarks.speed`."""
