"""PA: sparse coding on bridged features."""
