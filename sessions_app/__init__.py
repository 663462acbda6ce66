"""The conversation server: everything that touches a row, a request or a socket."""
