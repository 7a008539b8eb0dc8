"""The report page, from templates."""
