"""The record of a turn: events while it runs, the graph and the execution trace as folds over them."""
