"""Planners: they order the candidates of a frame."""
