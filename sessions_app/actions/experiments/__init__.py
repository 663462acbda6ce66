"""Writes of experiments and trials, except for the results that running them stores."""
