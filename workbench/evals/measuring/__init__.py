"""From results of cases to figures: each metric with n and interval, per segment, and runs compared in pairs."""
