"""Chapter 05: its exercises."""
