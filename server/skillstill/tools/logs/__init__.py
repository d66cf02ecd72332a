"""Tools that read logs."""
