"""Scripts: Python that a model writes and whose only functions are the skill's other tools."""
