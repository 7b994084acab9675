"""What search finds, and how long it takes."""
