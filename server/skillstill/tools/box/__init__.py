"""Tools that execute or write, in the sandbox of the run."""
