"""What a study shows: tables, figures, the page."""
