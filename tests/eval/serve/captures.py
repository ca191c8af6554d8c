"""Requests that GNU Backgammon 1.07.001 has sent to an external player, and what answers them."""

from __future__ import annotations

TAIL = "1:-1:0:25:0:0:0:0:0:0:0"
START = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
OPENED = "0:-2:0:0:0:0:5:0:3:0:0:1:-5:4:0:0:0:-3:0:-5:0:0:0:1:1:0"
DANCING = "-1:0:2:3:2:2:2:0:1:0:0:0:0:0:-2:1:0:-2:0:-3:-4:1:-3:1:0:0"

ROLL, PLAY, ANSWER = ("roll", "double"), None, ("take", "drop", "beaver")

# By name: the line, the player who decides, the answers allowed; of a play the decider's dice.
CAPTURES: dict[str, tuple[str, int, tuple[str, ...] | None]] = {
    "cube": (f"board:Otto:Xena:0:0:0:{OPENED}:-1:0:0:0:0:1:1:1:0:{TAIL}:1", 0, ROLL),
    "play": (f"board:Otto:Xena:0:0:0:{OPENED}:-1:5:2:5:2:1:1:1:0:{TAIL}:1", 0, PLAY),
    "race": (
        f"board:Otto:Xena:0:0:1:0:0:2:2:2:3:3:1:0:0:0:0:0:-2:0:0:0:-2:-2:-2:2:-3:-2:-1:-1:0:-1:0:0:0:0:1:1:1:0:{TAIL}:1",
        0,
        ROLL,
    ),
    "answer": (
        f"board:Xena:Otto:0:1:4:0:2:0:3:2:0:4:0:0:2:1:0:-2:1:-1:0:-1:-1:0:-4:0:-2:0:-2:-2:0:1:0:0:0:0:1:1:1:1:{TAIL}:1",
        0,
        ANSWER,
    ),
    "owned": (
        f"board:Otto:Xena:0:4:1:0:2:0:3:2:1:4:0:0:1:1:1:-2:0:-1:0:-1:-1:0:-4:0:-2:0:-2:-2:0:-1:0:0:0:0:2:0:1:0:{TAIL}:1",
        0,
        ROLL,
    ),
    "dance": (f"board:Otto:Xena:0:13:8:{DANCING}:-1:3:6:3:6:4:1:0:0:{TAIL}:1", 0, ("",)),
    "redoubled": (f"board:Xena:Otto:0:8:13:{DANCING}:1:0:0:0:0:4:1:0:1:{TAIL}:1", 0, ANSWER),
    "beavered": (f"board:Otto:Xena:0:0:0:{OPENED}:-1:0:0:0:0:2:1:0:1:{TAIL}:1", 0, ("take", "drop")),
    "second seat": (f"board:Otto:Xena:5:0:0:{START}:1:3:1:3:1:1:1:1:0:{TAIL}:1", 1, PLAY),
    "second seat, doubled": (
        f"board:Xena:Otto:5:0:0:0:0:1:1:1:0:4:1:1:0:-1:0:-5:4:0:0:0:-2:-2:-5:0:0:0:0:2:0:-1:0:0:0:0:2:0:1:1:{TAIL}:1",
        1,
        ANSWER,
    ),
    "crawford": (f"board:Otto:Xena:3:1:2:{START}:-1:6:5:6:5:1:1:1:0:{TAIL}:0", 0, PLAY),
}
