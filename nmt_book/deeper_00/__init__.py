"""The deeper page 00: its exercises, what it measures and the tables that it cites."""
