"""Chapter 02: its exercises and pictures of its own."""
