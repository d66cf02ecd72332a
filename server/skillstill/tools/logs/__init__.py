"""The tools that know logs: lines become entries, entries are chosen, counted and shown."""
