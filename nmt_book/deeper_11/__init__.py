"""The deeper page 11: its exercises, what it measures, and pictures of its own."""
