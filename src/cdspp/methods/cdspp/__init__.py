"""CDSPP, its supervised form, its variants."""
