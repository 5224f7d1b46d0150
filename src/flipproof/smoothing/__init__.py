"""From votes to certificates: the evidence, how it is kept, and what it proves."""
