"""Manifests, lock files and test reports as dependencies, scripts, packages and test results."""

from skillstill.facts.readers.project.reader import PROJECT

__all__ = ["PROJECT"]
