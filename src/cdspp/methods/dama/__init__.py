"""DAMA, its supervised form, DAMA+."""
