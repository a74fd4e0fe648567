"""Chapter 06: its exercises and pictures of its own."""
