"""How soon the turn page shows a turn of 100, 1,000 and 10,000 executions: `python -m bench.turn_page`."""
