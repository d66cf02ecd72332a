"""From trained weights to GGUF files, with a proof of parity."""
