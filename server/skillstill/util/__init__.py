"""Helpers without knowledge of skills: text, files, hosts, packages."""
