"""One run: the loop, its record, the evidence of an answer, stored traces."""
