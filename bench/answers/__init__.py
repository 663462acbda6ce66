"""How well questions to other people's text are answered: what is stated, composed, quoted or refused.

collections (files) -> asking (the machine over a mounted base) -> judging -> report
"""
