"""Likely places of a workspace for any text, without a model.

    text -> question.py (words, names, paths) -> signals.py (files by each sign)
         -> spans.py, lines.py (definitions, windows, single lines) -> candidates.py (with entries of logs, columns)
         -> places.py (the best of all, each shown by excerpt.py)

What it asks of a workspace is the protocol of corpus.py; memory.py makes one from a folder or from texts.
"""
