"""The readers that come with the package, by the names that a skill calls them by."""

HERE = "skillstill.facts.readers"
WORDS = f"{HERE}.words:WORDS"  # what `locate` needs beside the readers that a skill names
BUNDLED = {
    "code": f"{HERE}.code:CODE",
    "logs": f"{HERE}.logs:LOGS",
    "data": f"{HERE}.data:DATA",
    "documents": f"{HERE}.documents:DOCUMENTS",
    "config": f"{HERE}.config:CONFIG",
    "project": f"{HERE}.project:PROJECT",
    "history": f"{HERE}.history:HISTORY",
}
