"""The MCP server: memory as tools and resources over stdin and stdout."""
