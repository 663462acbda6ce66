"""Background rewrites of layers: compaction, packing, reindexing."""
