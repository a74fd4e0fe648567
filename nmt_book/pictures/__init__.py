"""Pictures that several chapters share."""
