"""Chapter 13: its exercises, what it measures and the tables that it cites."""
