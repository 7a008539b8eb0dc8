"""HFA and SHFA: augmented features."""
