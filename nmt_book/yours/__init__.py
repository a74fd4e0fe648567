"""A reader's own functions in a trained translator."""
