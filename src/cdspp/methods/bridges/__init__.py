"""Rows that use what two domains share besides labels: columns, or paired rows."""
