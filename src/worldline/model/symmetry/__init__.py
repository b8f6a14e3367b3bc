"""Symmetry: node ids that can be exchanged, and states renamed by such an exchange."""
