"""What several families of commands use: arguments, numbers and replies of one kind. No family."""
