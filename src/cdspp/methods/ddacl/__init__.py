"""DDACL: distribution alignment with cross-entropy."""
