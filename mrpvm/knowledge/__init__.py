"""What a unit of knowledge is: words, acts, roles, facts, hashes, chunks, trees, and the choice of evidence.

Pure functions over text and frozen values; no plugin, no port, no clock.
"""
