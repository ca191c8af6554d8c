"""Self-play, targets, learner and checkpoints."""

from .checkpoint import Progress, newest_checkpoint
from .config import LearnerConfig, LuckConfig, RankerConfig, SelfPlayConfig, TargetsConfig, TrainConfig
from .distributed import LostProcessError, World, join_world, leave_world
from .learner import Losses, NotFiniteError
from .monitor import draw_curves, read_metrics
from .trainer import Trainer

__all__ = [
    "LearnerConfig",
    "Losses",
    "LostProcessError",
    "LuckConfig",
    "NotFiniteError",
    "Progress",
    "RankerConfig",
    "SelfPlayConfig",
    "TargetsConfig",
    "TrainConfig",
    "Trainer",
    "World",
    "draw_curves",
    "join_world",
    "leave_world",
    "newest_checkpoint",
    "read_metrics",
]
