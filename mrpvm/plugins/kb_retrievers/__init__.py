"""KB retrievers: from intents to evidence in the effective view of a session."""
