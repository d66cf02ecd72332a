"""Who does the work on many items: this process alone, or the workers of a Ray cluster."""
