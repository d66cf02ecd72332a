"""Two hashes: what a release depends on to behave as it was measured, and what that measure was made of."""

from skillstill.contract.hashes import behaviour_hash, provenance_hash, serving_hash

__all__ = ["behaviour_hash", "provenance_hash", "serving_hash"]
