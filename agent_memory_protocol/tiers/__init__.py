"""Tier documents: what is in them, how they are edited, and what is outdated."""
