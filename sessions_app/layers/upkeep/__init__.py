"""Upkeep of layers in the background: long chains folded, large layers packed, old ones indexed again."""
