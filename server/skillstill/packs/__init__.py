"""A release in one file: packed, verified and placed, sent to a model hub and fetched from one."""
