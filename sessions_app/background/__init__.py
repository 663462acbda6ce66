"""What runs beside turns: the sweeper, precomputed artifacts, alerts, metrics, checks of readiness and stored data."""
