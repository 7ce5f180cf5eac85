"""The radix tree, with ordered keys."""
