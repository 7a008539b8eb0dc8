"""CDSPP, its supervised form, and its variants."""
