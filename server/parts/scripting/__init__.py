"""Scripts and functions: what is loaded, what runs, how long it may."""
