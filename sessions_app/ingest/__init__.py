"""From an uploaded source to units in a base or a session: load, read, normalise, derive, notify plugins."""
