"""Tools that look at files and source code."""
