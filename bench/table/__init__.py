"""The table of costs: what a request, a turn and their traces cost, each beside its limit and its aim."""
