"""Position encoding, network, values, and the evaluator that plays with them."""

from .bundle import BundleError, save_bundle
from .evaluator import CubeAction, Evaluator, load
from .network import Network, NetworkConfig

__all__ = ["BundleError", "CubeAction", "Evaluator", "Network", "NetworkConfig", "load", "save_bundle"]
