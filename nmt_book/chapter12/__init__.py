"""Chapter 12: its exercises and what it measures."""
