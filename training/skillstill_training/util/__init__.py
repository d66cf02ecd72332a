"""Helpers without knowledge of training."""
