"""Commands about evaluation: datasets, runs, comparisons, judges, reviews, gates and decisions."""
