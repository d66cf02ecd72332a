"""What subagents are worth to whoever orchestrates them: the same tasks, the same orchestrator, other subagents.

tasks x arms -> an orchestrator's outcome, scored -> outcomes.jsonl -> intervals, differences, a page
"""
