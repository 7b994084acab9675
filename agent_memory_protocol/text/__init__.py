"""Text: Markdown as blocks, headers, dates, links, what a reader sees, and what two sentences claim."""
