"""Goal solvers: from evidence to answers."""
