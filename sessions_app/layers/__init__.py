"""The knowledge store: layers, their index, and retrieval over them."""
