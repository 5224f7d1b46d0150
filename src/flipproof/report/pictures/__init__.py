"""What inputs look like, as arrays for a page."""
