"""The router's model: learned from field questions and tasks that no subagent fits, and measured on others.

beyond/{train,validation}.jsonl    tasks that none of explore, logs and tables fits, by hands that know none of them
"""
