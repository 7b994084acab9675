"""Notes: one fact, one file, with a header, a Why and a How to apply."""
