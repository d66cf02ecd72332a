"""Opens a sandbox's way to the proxy, and becomes the runner. Standard library only, Python 3.9 or newer.

    relay.py DOOR PROGRAM ARGUMENT...     DOOR is the path of a unix socket, or the number of one that was inherited

It listens on the loopback of the sandbox, and hands this listener to the host through the door (SCM_RIGHTS). What
connects to it inside is then accepted outside, by the proxy (proxy.py). So nothing of ours has to live in here, where
the end of a command ends all that runs, and the door is shut before the first command.
"""

import os
import socket
import sys

BACKLOG = 32


def main() -> None:
    door, *command = sys.argv[1:]
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listener, opened(door) as channel:
        socket.send_fds(channel, [b"\0"], [listener.fileno()])
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for name in ("http_proxy", "https_proxy"):
        os.environ[name] = os.environ[name.upper()] = address
    os.execvp(command[0], command)  # noqa: S606


def opened(door: str) -> socket.socket:
    if door.isdigit():
        return socket.socket(fileno=int(door))
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(door)
    return channel


if __name__ == "__main__":
    main()
