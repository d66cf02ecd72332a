"""A training run on disk: its folder, recipe and scorecard."""
