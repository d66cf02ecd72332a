"""Which subagent a task is for, or that none fits: by the words of the task, the texts of the skills, the folder.

    task -> hashed features -> model.py (learned from field questions)   \
    skill folder -> candidates.py (its texts, the kinds of files that it reads)      > router.py -> delegation.py
    workspace -> folder.py (kinds of files by their names), experience.py (earlier runs there) /

No model of language and no network: a task takes about a millisecond, and a folder as long as listing its names.
"""
