"""The deeper page 12: its exercises, what it measures, and pictures of its own."""
