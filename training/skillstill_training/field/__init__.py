"""Field questions: natural questions by independent hands on real workspaces, and how well an arm answers them."""
