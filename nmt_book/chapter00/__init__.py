"""Chapter 00: its exercises and pictures of its own."""
