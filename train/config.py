"""What a training run is told: types, meaning and limits of every setting. `configs/train` has the values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LearnerConfig", "LuckConfig", "RankerConfig", "SelfPlayConfig", "TargetsConfig", "TrainConfig"]

_PRECISIONS = ("float32", "bfloat16")


def _require(holds: bool, key: str, found: object, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{key}: found {found}, wanted {wanted}")


@dataclass(frozen=True)
class SelfPlayConfig:
    """How games are played to learn from.

    Attributes:
        num_games: games side by side, each in its slot.
        window_plies: turns of every game between two rounds of learning, the reach of a lambda-return.
        cubeful_fraction: share of the games played with the cube for money, plays and doubles by the cube's values.
        stake_fraction: share played with the cube at a match score, or for money with the Jacoby rule. The other games
            are played out cubeless.
        player: who plays, and so values what is learned from: the ``network`` itself, or its ``average``, whose values
            do not follow the noise of the last updates, and news reaches a little later.
        precision: of the products with which plays are valued: ``float32``, or ``bfloat16`` for GPUs and those CPUs
            that have it. Weights, values and targets stay float32.
        cuda_graph: on a GPU play each turn as one CUDA graph (`train.ply_graph`); elsewhere it changes nothing.
    """

    num_games: int = 1024
    window_plies: int = 16
    cubeful_fraction: float = 0.2
    stake_fraction: float = 0.2
    player: str = "network"
    precision: str = "float32"
    cuda_graph: bool = False

    def __post_init__(self) -> None:
        _require(self.precision in _PRECISIONS, "precision", self.precision, " or ".join(_PRECISIONS))
        _require(self.player in ("network", "average"), "player", self.player, "network or average")
        _require(1 <= self.num_games <= 1 << 20, "num_games", self.num_games, "1 to 1048576")
        _require(1 <= self.window_plies <= 1024, "window_plies", self.window_plies, "1 to 1024")
        _require(0 <= self.cubeful_fraction <= 1, "cubeful_fraction", self.cubeful_fraction, "0 to 1")
        rest = 1 - self.cubeful_fraction
        _require(0 <= self.stake_fraction <= rest, "stake_fraction", self.stake_fraction, f"0 to {rest:g}")


@dataclass(frozen=True)
class TargetsConfig:
    """What a position's value is learned from.

    Lambda-returns, lambda moving linearly over the run's games; late in the run exact means over the 21 rolls
    (`train.bellman`) for a share of the positions.

    Attributes:
        initial_lambda: at the first game; 1 follows the game to its end, 0 looks one turn ahead.
        final_lambda: at the last game.
        bellman_from: share of the run's games after which exact targets are used; 1 never.
        bellman_share: share of the positions that get one.
        bellman_teacher: who values the plays for them: the ``network`` itself, whose news reaches the positions before
            at once, or its ``average``, which is steadier and slower.
        bellman_passes: how often those are learned from: they have no noise that could be learned by heart.
        bellman_lambda: how far the exact targets follow the game on, all luck of its rolls taken out: 0 looks one turn
            ahead. Above 0 the share is one of the games side by side, and the player of the games is the teacher.
        bellman_rest: are the other positions learned from as well, by lambda-returns, and then all of them once?
    """

    initial_lambda: float = 0.7
    final_lambda: float = 0.7
    bellman_from: float = 1.0
    bellman_share: float = 0.05
    bellman_teacher: str = "average"
    bellman_passes: int = 1
    bellman_lambda: float = 0.0
    bellman_rest: bool = False

    def __post_init__(self) -> None:
        _require(0 <= self.initial_lambda <= 1, "initial_lambda", self.initial_lambda, "0 to 1")
        _require(0 <= self.final_lambda <= 1, "final_lambda", self.final_lambda, "0 to 1")
        _require(0 <= self.bellman_from <= 1, "bellman_from", self.bellman_from, "0 to 1")
        _require(0 < self.bellman_share <= 1, "bellman_share", self.bellman_share, "above 0, at most 1")
        teachers = ("network", "average")
        _require(self.bellman_teacher in teachers, "bellman_teacher", self.bellman_teacher, " or ".join(teachers))
        _require(0 <= self.bellman_lambda <= 1, "bellman_lambda", self.bellman_lambda, "0 to 1")
        _require(1 <= self.bellman_passes <= 1000, "bellman_passes", self.bellman_passes, "1 to 1000")

    def at(self, fraction: float) -> float:
        """Lambda when ``fraction`` of the run's games are over."""
        return self.initial_lambda + (self.final_lambda - self.initial_lambda) * min(max(fraction, 0.0), 1.0)


@dataclass(frozen=True)
class LearnerConfig:
    """How the network follows the targets.

    Attributes:
        batch_size: positions an update.
        learning_rate: AdamW's rate after the warm-up; it falls along a cosine to ``final_learning_rate``.
        final_learning_rate: the rate at the last game of the run.
        warmup_games: games over which the rate rises from 0.
        muon_learning_rate: Muon's rate for the weights of the hidden layers, rising and falling with AdamW's, which
            then moves the rest alone; 0 for AdamW everywhere.
        weight_decay: of both.
        cube_weight: weight of the cube head's squared error (points) beside the outcome head's cross-entropy (nats).
        equity_weight: weight of the squared error (points) of the equity that follows from the outcomes. Cross-entropy
            alone spends as much of a network on outcomes worth a point as on those worth three.
        max_gradient_norm: gradients are scaled down to this norm.
        ema_decay: of the averaged weights, an update; those are what is evaluated, saved and played.
        precision: of the products and their gradients, ``float32`` or ``bfloat16``; weights and losses stay float32.
        cuda_graph: on a GPU, with one process, take each step as one CUDA graph (`train.step_graph`).
    """

    batch_size: int = 256
    learning_rate: float = 1e-3
    final_learning_rate: float = 1e-5
    warmup_games: int = 2000
    muon_learning_rate: float = 0.0
    weight_decay: float = 1e-5
    cube_weight: float = 0.5
    equity_weight: float = 0.0
    max_gradient_norm: float = 5.0
    ema_decay: float = 0.999
    precision: str = "float32"
    cuda_graph: bool = False

    def __post_init__(self) -> None:
        _require(self.precision in _PRECISIONS, "precision", self.precision, " or ".join(_PRECISIONS))
        _require(self.batch_size >= 1, "batch_size", self.batch_size, "1 or more")
        _require(0 < self.learning_rate <= 1, "learning_rate", self.learning_rate, "above 0, at most 1")
        _require(
            0 <= self.final_learning_rate <= self.learning_rate,
            "final_learning_rate",
            self.final_learning_rate,
            "0 to learning_rate",
        )
        _require(self.warmup_games >= 0, "warmup_games", self.warmup_games, "0 or more")
        _require(0 <= self.muon_learning_rate <= 1, "muon_learning_rate", self.muon_learning_rate, "0 to 1")
        _require(self.weight_decay >= 0, "weight_decay", self.weight_decay, "0 or more")
        _require(self.cube_weight >= 0, "cube_weight", self.cube_weight, "0 or more")
        _require(self.equity_weight >= 0, "equity_weight", self.equity_weight, "0 or more")
        _require(self.max_gradient_norm > 0, "max_gradient_norm", self.max_gradient_norm, "above 0")
        _require(0 <= self.ema_decay < 1, "ema_decay", self.ema_decay, "0 to below 1")


@dataclass(frozen=True)
class LuckConfig:
    """The network that learns what each roll is worth, so that a target can leave the luck of its rolls out.

    Attributes:
        hidden: units of its hidden layers; none leaves the luck in.
        share: share of a window's positions it learns from.
        learning_rate: AdamW's, falling as the learner's does.
    """

    hidden: tuple[int, ...] = ()
    share: float = 0.25
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        _require(all(1 <= units <= 1 << 16 for units in self.hidden), "hidden", list(self.hidden), "units of 1 or more")
        _require(0 < self.share <= 1, "share", self.share, "above 0, at most 1")
        _require(0 < self.learning_rate <= 1, "learning_rate", self.learning_rate, "above 0, at most 1")


@dataclass(frozen=True)
class RankerConfig:
    """The small network that sorts out the plays which the large one values (`models.ranker`).

    Attributes:
        units: of its hidden layer, a multiple of 16; 0 values every play.
        keep: plays of a position that stay at most.
        warmup_games: games of the run in which it only learns.
        learning_rate: AdamW's, falling as the learner's does.
    """

    units: int = 0
    keep: int = 8
    warmup_games: int = 5000
    learning_rate: float = 2e-3

    def __post_init__(self) -> None:
        _require(0 <= self.units <= 1024 and self.units % 16 == 0, "units", self.units, "a multiple of 16, 0 to 1024")
        _require(1 <= self.keep <= 1000, "keep", self.keep, "1 to 1000")
        _require(self.warmup_games >= 0, "warmup_games", self.warmup_games, "0 or more")
        _require(0 < self.learning_rate <= 1, "learning_rate", self.learning_rate, "above 0, at most 1")


@dataclass(frozen=True)
class TrainConfig:
    """One training run. Budgets and intervals count finished games.

    Attributes:
        games: games to play in all.
        seed: of dice, first weights and the order of samples.
        selfplay, targets, luck, ranker, learner: see their classes.
        checkpoint_games: games between two checkpoints.
        keep_checkpoints: the newest so many are kept.
        evaluate_games: games between two evaluations; 0 never evaluates while training.
        log_games: games between two entries of the log.
        table_games: games between two match equity tables, each following from the averaged network.
        max_minutes: stop early, with a checkpoint, after this time; None never.
    """

    games: int = 100_000
    seed: int = 0
    selfplay: SelfPlayConfig = SelfPlayConfig()
    targets: TargetsConfig = TargetsConfig()
    luck: LuckConfig = LuckConfig()
    ranker: RankerConfig = RankerConfig()
    learner: LearnerConfig = LearnerConfig()
    checkpoint_games: int = 10_000
    keep_checkpoints: int = 3
    evaluate_games: int = 10_000
    log_games: int = 1000
    table_games: int = 20_000
    max_minutes: float | None = None

    def __post_init__(self) -> None:
        _require(self.games >= 1, "games", self.games, "1 or more")
        _require(0 <= self.seed < 2**63, "seed", self.seed, "0 to 2^63 - 1")
        _require(self.checkpoint_games >= 1, "checkpoint_games", self.checkpoint_games, "1 or more")
        _require(self.keep_checkpoints >= 1, "keep_checkpoints", self.keep_checkpoints, "1 or more")
        _require(self.evaluate_games >= 0, "evaluate_games", self.evaluate_games, "0 or more")
        _require(self.log_games >= 1, "log_games", self.log_games, "1 or more")
        _require(self.table_games >= 1, "table_games", self.table_games, "1 or more")
        _require(self.max_minutes is None or self.max_minutes > 0, "max_minutes", self.max_minutes, "above 0, or null")
