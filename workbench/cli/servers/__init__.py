"""Commands about model servers on this machine and elsewhere."""
