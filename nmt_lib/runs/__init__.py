"""Engineering that no chapter needs to show: run folders, checkpoints, the shell entry, export."""
