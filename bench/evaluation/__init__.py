"""How well stories are answered: suites of questions, each also with renamed things and turned round [E-8 to E-15].

suites -> session (the machine over a story) -> judging -> report
"""
