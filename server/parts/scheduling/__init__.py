"""What is added to streams later: which of it is due next, and when recurring jobs run."""
