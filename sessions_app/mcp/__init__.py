"""The Model Context Protocol at /mcp: what coding agents debug a conversation with."""
