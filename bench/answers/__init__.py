"""Measure how well questions about text written by others are answered: stated, composed, quoted or refused.

collections (files) -> asking (the machine over a mounted base) -> judging -> report
"""
