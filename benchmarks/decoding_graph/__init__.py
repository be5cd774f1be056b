"""Cost of decoding graphs and of the search in them."""
