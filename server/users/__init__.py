"""Users, and what they may do: ACL's model, without I/O and without a clock."""
