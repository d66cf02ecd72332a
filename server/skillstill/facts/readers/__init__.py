"""The readers that come with the package, by the names that a skill calls them by."""

BUNDLED = {"code": "skillstill.facts.readers.code:CODE", "logs": "skillstill.facts.readers.logs:LOGS"}
