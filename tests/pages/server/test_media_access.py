"""Which browser knows which media file, and until when."""

from pages.widgets.server.gate import KEPT_SECONDS, MediaAccess

FILE = "0" * 31 + "a"


def test_a_browser_is_forgotten_some_time_after_its_last_socket():
    now = [0.0]
    media = MediaAccess(lambda: now[0])
    media.connected("one")
    media.connected("one")
    media.sent("one", b"... media/" + FILE.encode() + b".png")
    now[0] = 10 * KEPT_SECONDS
    media.disconnected("one")
    now[0] = 20 * KEPT_SECONDS
    assert media.knows("one", f"/media/{FILE}.png")
    media.disconnected("one")
    now[0] += KEPT_SECONDS
    assert media.knows("one", f"/media/{FILE}.png")
    now[0] += 1
    assert not media.knows("one", f"/media/{FILE}.png")
    media.connected("one")
    assert not media.knows("one", f"/media/{FILE}.png")
