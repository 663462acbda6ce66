"""The HTTP API [API-1 to API-20]: every endpoint validates, calls one query or action, and renders."""
