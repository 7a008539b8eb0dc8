"""Tables: one module builds and writes each kind."""
