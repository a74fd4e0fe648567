"""Pictures of what the model does, and of anything else that a chapter draws. Each returns a matplotlib figure."""
