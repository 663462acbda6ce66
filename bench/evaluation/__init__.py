"""How well stories are answered: suites of questions, each also with renamed things and turned round.

suites -> session (the machine over a story) -> judging -> report
"""
