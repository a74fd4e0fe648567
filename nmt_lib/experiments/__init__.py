"""What the chapters measure beside their exercises, one experiment a module."""
