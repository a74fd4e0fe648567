"""The deeper page 13: its exercises and what it measures."""
