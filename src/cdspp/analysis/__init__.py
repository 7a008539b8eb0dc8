"""From scores to numbers: means, intervals, gains, and what they say."""
