"""Self-play, targets, learner and checkpoints."""
