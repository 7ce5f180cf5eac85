"""Writing: rows become XADD commands, which are delivered as the option ``delivery`` says."""
