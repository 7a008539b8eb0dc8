"""Shared foundations: errors, names, wording, files, seeds, linear algebra."""
