"""What programs that watch the server ask for over HTTP: is it well, and its figures."""
