"""The deeper page 06: its exercises, what it measures and pictures of its own."""
