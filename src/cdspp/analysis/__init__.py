"""From scores to numbers: means, intervals, gains, and verdicts."""
