"""What commands have changed, for those who replay it."""
