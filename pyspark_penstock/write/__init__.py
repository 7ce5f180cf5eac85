"""Writing: rows become XADD commands, delivered as the option says."""
