"""The tools that answer from documentation: its passages in the workspace, and on the web if the user says so."""
