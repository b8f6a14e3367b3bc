"""Prediction: what can go wrong from a state on. Start reading with `predict`."""
