"""What every room stands on: errors, names, wording, files, seeds, linear algebra."""
