"""Records: facts with a state, a history and a signature; docs/records.md specifies them."""
