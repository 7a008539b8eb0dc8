"""SSAN, STN, JMEA and NN_t: small networks (torch)."""
