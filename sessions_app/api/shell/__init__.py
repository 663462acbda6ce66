"""What every endpoint shares: callers, errors, paging, schema."""
