"""The OpenAI dialect under `/v1`: thin over the same turns as the native API."""
