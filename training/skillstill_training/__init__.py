"""What makes what runs: goals, traces, training, export and evaluation of the adapters that `skillstill` serves."""
