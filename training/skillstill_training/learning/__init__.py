"""From samples to the adapter that does best: rows of tokens, the student, its training, the choice of a checkpoint."""
