"""DDACL: distributions aligned by cross-entropy."""
