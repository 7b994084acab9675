"""Exchange: memory goes out to record files, comes in from them, and one format becomes another."""
