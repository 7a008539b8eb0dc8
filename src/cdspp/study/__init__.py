"""What a configuration means: its checks, its settings, its plan, its cost."""
