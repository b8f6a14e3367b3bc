"""What can be asked which faults break it: Dedalus programs, systems of Python nodes."""
