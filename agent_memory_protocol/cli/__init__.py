"""The `amp` command: each verb reads its input, calls one method, and prints the answer."""
