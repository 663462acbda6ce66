"""The command line: starting, stopping and tending the server."""
