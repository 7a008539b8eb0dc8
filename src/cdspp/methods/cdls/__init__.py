"""CDLS and its supervised form."""
