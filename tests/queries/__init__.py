"""What becomes of a question before it is searched: spelling, splitting, follow-ups, other wordings."""
