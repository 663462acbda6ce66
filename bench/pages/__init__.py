"""What pages cost with long sessions, many sessions and many readers: `python -m bench.pages`."""
