"""The tools that know tables: files and databases become one catalogue, and SQL is asked of it."""
