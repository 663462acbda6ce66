"""Benchmarks that print ratios: `make bench`, or `python -m bench --help`. They judge nothing and never fail."""
