"""STN and SSAN: small networks (torch)."""
