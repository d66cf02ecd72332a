"""Likely places of a code base for any text, without a model.

    text -> question.py (words, names, paths) -> signals.py (files by each sign) -> spans.py (lines) -> places.py

What it asks of a code base is the protocol of corpus.py; memory.py makes one from a folder or from texts.
"""
