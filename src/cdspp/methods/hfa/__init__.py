"""HFA and SHFA: heterogeneous feature augmentation."""
