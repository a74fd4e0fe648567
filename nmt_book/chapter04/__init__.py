"""Chapter 04: its exercises and pictures of its own."""
