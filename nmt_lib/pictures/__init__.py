"""Pictures of the model at work, and the other plots of the chapters."""
