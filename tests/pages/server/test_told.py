"""Which browser knows which media file, and until when."""

from pages.widgets.server.told import KEPT_SECONDS, Told

FILE = "0" * 31 + "a"


def test_a_browser_is_forgotten_some_time_after_its_last_socket():
    now = [0.0]
    told = Told(lambda: now[0])
    told.connected("one")
    told.connected("one")
    told.sent("one", b"... media/" + FILE.encode() + b".png")
    now[0] = 10 * KEPT_SECONDS
    told.disconnected("one")
    now[0] = 20 * KEPT_SECONDS
    assert told.knows("one", f"/media/{FILE}.png")
    told.disconnected("one")
    now[0] += KEPT_SECONDS
    assert told.knows("one", f"/media/{FILE}.png")
    now[0] += 1
    assert not told.knows("one", f"/media/{FILE}.png")
    told.connected("one")
    assert not told.knows("one", f"/media/{FILE}.png")
