"""The paper as a guest of a study: its claims, printed numbers and other readings."""
