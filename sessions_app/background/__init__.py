"""What runs beside turns: the sweeper, precomputed vectors, readiness checks."""
