"""Upkeep of layers in the background: folds long chains, packs large layers and reindexes outdated ones."""
