"""The console: a page in the browser, for people."""
