"""Where mechanisms come from."""
