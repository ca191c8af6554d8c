"""Position encoding, network, values, cube and match arithmetic, and the evaluator that plays with them."""

from .bundle import BundleError, save_bundle
from .evaluator import CubeAction, Evaluator, load
from .janowski import CubeLife, cube_equities, match_no_double, money_no_double, simple_match_equity
from .match_equity import MatchEquityError, MatchEquityTable
from .match_equity_xml import read_match_equity, write_match_equity
from .network import Network, NetworkConfig

__all__ = [
    "BundleError",
    "CubeAction",
    "CubeLife",
    "Evaluator",
    "MatchEquityError",
    "MatchEquityTable",
    "Network",
    "NetworkConfig",
    "cube_equities",
    "load",
    "match_no_double",
    "money_no_double",
    "read_match_equity",
    "save_bundle",
    "simple_match_equity",
    "write_match_equity",
]
