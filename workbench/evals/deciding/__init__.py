"""What follows from figures: gates that are locked before the run, and the threshold τ."""
