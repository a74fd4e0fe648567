"""What stands where the rest of a model or a training run will stand, in public checks
and hidden tests alike."""
