"""Secrets: the table of their kinds, the forms of a text that are searched, the search and the judge."""
