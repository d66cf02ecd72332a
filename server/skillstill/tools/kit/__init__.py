"""What tools are built with."""
