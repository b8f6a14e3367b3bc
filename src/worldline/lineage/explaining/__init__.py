"""What faults do, and why an outcome needs what they take away: texts and drawings."""
