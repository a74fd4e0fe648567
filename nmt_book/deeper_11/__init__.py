"""The deeper page 11: its exercises, what it measures and the tables that it cites."""
