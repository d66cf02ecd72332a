"""The tools that ask the facts of a workspace, whatever it holds."""
