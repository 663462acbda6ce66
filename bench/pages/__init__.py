"""What pages cost where there is much: long sessions, many sessions, many readers: `python -m bench.pages`."""
