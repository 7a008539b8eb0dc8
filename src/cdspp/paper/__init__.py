"""The paper as a plug-in: its claims, printed numbers and variants."""
