"""Writes of experiments and trials, but for what running them stores."""
