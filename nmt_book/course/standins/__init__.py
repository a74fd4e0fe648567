"""What takes the place of the rest of a model, or of a training run, in public checks
and hidden tests alike."""
