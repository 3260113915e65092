"""From states as written to states that are compared, as a protocol asks."""
