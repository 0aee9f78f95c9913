"""Python reads this first in a server under watch: it notes what is written to disk, and notes and refuses what leaves.

Names of other machines may be neither looked up nor connected to; files are noted with their path.
"""

import os
import sys

HERE = {"localhost", "127.0.0.1", "::1", "", None}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CONNECTS = ("socket.connect", "socket.sendto", "socket.sendmsg")
LOOKS_UP = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
notes = os.open(os.environ["WATCH_NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def watch(event: str, args: tuple) -> None:
    if event == "open" and isinstance(args[2], int) and args[2] & WRITES:
        os.write(notes, f"writes {args[0]}\n".encode())
    elif event in CONNECTS or event in LOOKS_UP:
        target = args[1] if event in CONNECTS else args
        if isinstance(target, tuple) and target[0] not in HERE:
            os.write(notes, f"leaves {event} {target[0]}\n".encode())
            raise ConnectionRefusedError("no connection may leave this machine")


sys.addaudithook(watch)
