"""The project: its root, its settings, who may do what, and the headers of new documents."""
