"""The command line: starting, stopping and maintaining the server."""
