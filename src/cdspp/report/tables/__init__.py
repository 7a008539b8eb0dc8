"""Tables: each module builds and writes one kind."""
