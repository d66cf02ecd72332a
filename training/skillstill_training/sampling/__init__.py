"""Sample goals from workspaces, prove each, freeze them."""
