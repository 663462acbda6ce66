"""Suites of questions about stories, also with renamed entities and in reversed wording.

suites -> session (the machine over a story) -> judging -> report
"""
