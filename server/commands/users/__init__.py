"""ACL: users, their rights, and what was refused to them."""
