"""The paper as a plug-in: its claims, reported numbers and variants."""
