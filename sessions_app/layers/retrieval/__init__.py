"""Search over a chain of layers."""
