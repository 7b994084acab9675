"""Changing a document: lock, heal, journal, ledger and replace, so that nothing is lost."""
