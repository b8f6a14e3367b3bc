"""User code at work: how it is entered, watched, stopped and blamed."""
