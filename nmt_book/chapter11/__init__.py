"""Chapter 11: its exercises, what it measures, pictures of its own, and its tables."""
