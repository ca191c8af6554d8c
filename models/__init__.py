"""Position encoding, network, values and saving."""
