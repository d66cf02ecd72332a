"""A source, read: every definition in it, every refusal by name, and the digests that spare the next reading."""

from skillstill.library.scanning.scanner import LARGEST, Scan, scan

__all__ = ["LARGEST", "Scan", "scan"]
