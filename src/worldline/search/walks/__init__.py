"""Random runs and random walks: how they are drawn, watched, judged and reported."""
