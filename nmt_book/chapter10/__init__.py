"""Chapter 10: its exercises, what it measures and pictures of its own."""
