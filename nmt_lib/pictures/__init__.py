"""Pictures of what the model does, and of other things that a chapter draws."""
