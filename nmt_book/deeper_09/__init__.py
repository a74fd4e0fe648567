"""The deeper page 09: its exercises."""
