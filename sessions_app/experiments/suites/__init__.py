"""Suites of tests: kept turns, expectations, runs and their files."""
