"""The programs that call us: how each is told where to find this server."""
