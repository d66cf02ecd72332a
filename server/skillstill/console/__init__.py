"""The terminal: what a run prints, shared options, `doctor`."""
