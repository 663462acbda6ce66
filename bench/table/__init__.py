"""The table of costs: what a request, a turn and their traces cost, each beside what it must and what it should be."""
