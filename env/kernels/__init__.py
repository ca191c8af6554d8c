"""Warp kernels of the rules: one source for CPU and CUDA. Called through `env.launch` only."""
