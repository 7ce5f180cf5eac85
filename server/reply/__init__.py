"""What values hold as RESP, written straight from their bytes: used by several families."""
