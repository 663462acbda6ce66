"""The OpenAI dialect under `/v1`: thin over the same turns as the native API [O-6, O-28 to O-32]."""
