"""One turn of the machine over rows: prepare, run, commit; and what may go wrong in between."""
