"""Models as judges, and how far people agree with them. Their verdicts stand beside the scores, in none of them."""
