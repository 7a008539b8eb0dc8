"""What every package uses: errors, names, wording, files, seeds, linear algebra."""
