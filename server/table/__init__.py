"""What a command is: its declaration, its arguments, the errors it may answer."""
