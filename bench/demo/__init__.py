"""A demo on Debian's package lists: producers, consumer groups, and a consumer that is killed."""
