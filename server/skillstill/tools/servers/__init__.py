"""MCP servers in a sandbox, whose tools are tools of a run."""
