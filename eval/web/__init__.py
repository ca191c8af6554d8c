"""A page to play on in a browser: games on the server, their state as JSON, and the static files that draw it."""

from .options import WebOptions
from .table import Table

__all__ = ["Table", "WebOptions"]
