"""Warp kernels of the exact solution: one source for CPU and CUDA. Called through `env.launch` only."""
