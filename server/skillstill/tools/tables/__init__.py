"""Tools that query tables."""
