"""The measured comparison of record files: on this machine, with this Python, on the user's own data if they like."""
