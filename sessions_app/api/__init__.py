"""The HTTP API: every endpoint validates, calls one query or action, and renders."""
