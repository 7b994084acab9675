"""Learning: what conversations, other tools and documentation know, and where a text belongs."""
