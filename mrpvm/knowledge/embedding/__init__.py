"""Vectors of what units say, by a small sentence model: an optional extra that works offline."""
