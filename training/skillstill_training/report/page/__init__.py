"""The page of goals and traces."""
