"""Speed and memory, measured in processes of their own."""
