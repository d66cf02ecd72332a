"""Likely places of a workspace for any text, without a model.

    text -> question.py (words, names, paths) -> signals.py (files by each sign)
         -> passages.py (definitions, sections, windows of the best files) -> ranking.py (what each is worth, by its
            words, and in logs by moments.py) and candidates.py (tables and columns)
         -> places.py (the best of all, each shown by the line of lines.py that tells most, through excerpt.py)

What it asks of a workspace is the protocol of corpus.py; memory.py makes one from a folder or from texts.
"""
