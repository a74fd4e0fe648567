"""The deeper page 03: its exercises."""
