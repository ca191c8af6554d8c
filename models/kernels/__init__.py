"""Warp kernels beside the network: encoding, the first layer of afterstates, the best play of each game."""
