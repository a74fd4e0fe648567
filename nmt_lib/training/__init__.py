"""Loss, optimizer, training, and the files of a run."""
