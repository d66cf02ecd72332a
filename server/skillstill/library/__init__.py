"""Other people's skills and subagents: found, read as they are, kept, searched, judged, packed."""
