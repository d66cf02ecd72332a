"""What a release is worth: who is asked what, how it is counted, and what follows."""
