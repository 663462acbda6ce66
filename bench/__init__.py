"""Benchmarks that print ratios: `make bench`, or `python -m bench --help`. A bad figure is no failure."""
