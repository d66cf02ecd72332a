"""Sandboxes: where what a model wrote is executed, and nothing else."""
