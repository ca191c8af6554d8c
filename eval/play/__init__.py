"""Faces through which a person or another program plays."""
