"""Memory as a page for a browser: what a workspace answers one reader, shown at a glance."""
