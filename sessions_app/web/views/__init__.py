"""The pages: one module a noun. Every view reads through queries and writes through actions."""
