"""Chapter 09: its exercises and what it measures."""
