"""The commands of the training package."""
