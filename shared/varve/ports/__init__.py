"""What the pipeline needs from the outside, each port as small as its callers need."""
