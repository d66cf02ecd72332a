"""A workspace as typed rows: readers, the index that keeps them fresh, and the one way to ask them."""
