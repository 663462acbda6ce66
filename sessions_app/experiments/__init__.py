"""A recorded turn run again: unchanged, changed, and searched for what its answer depends on."""
