"""The tables, the figures and the page of a study."""
