"""A bot served to other programs: GNU Backgammon's external-player protocol, and UBGI."""

from .decisions import Decider
from .external import ExternalPlayer
from .socket_server import ServerOptions, serve
from .ubgi_engine import UbgiEngine, converse

__all__ = ["Decider", "ExternalPlayer", "ServerOptions", "UbgiEngine", "converse", "serve"]
