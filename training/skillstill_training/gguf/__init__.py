"""What a GGUF file holds, read and written without torch."""
