"""The deeper page 04: the tables that it cites."""
