"""The deeper page 09: its exercises, what it measures, and pictures of its own."""
