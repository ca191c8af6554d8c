"""Bots, arena, statistics and reference positions."""
