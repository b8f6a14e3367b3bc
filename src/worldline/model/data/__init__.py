"""Plain data: the values that state and messages are made of, frozen, thawed, ordered."""
