"""`index.html` of a run: its goals and traces."""
