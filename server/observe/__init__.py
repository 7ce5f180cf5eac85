"""What the server counts about itself."""
