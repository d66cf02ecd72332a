"""One program where there is nothing but loopback and a scripted Messages API: `python -m tests.clients.jail PLAN`.

It is started by `unshare`, as the first process of its namespaces: whatever the program leaves behind ends with it.
"""

import errno
import fcntl
import json
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tests.clients.counterparts import server_environment
from tests.clients.messages_api import Script, serve

SIOCSIFFLAGS = 0x8914
UP_AND_RUNNING = 0x41


def main() -> int:
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    bring_loopback_up()
    check_that_there_is_no_way_out()
    url = serve(Script(plan["turns"], Path(plan["requests"])))
    environment = {**plan["environment"], "ANTHROPIC_BASE_URL": url}
    if plan["beside"]:
        environment["SKILLS_URL"] = start_beside(plan["beside"], environment)
    return subprocess.run(plan["command"], cwd=plan["folder"], env=environment, check=False).returncode


def check_that_there_is_no_way_out() -> None:
    """The address is one that documentation may use and nobody has."""
    try:
        socket.create_connection(("192.0.2.1", 9), timeout=1).close()
    except OSError as error:
        if error.errno == errno.ENETUNREACH:
            return
    raise SystemExit("there is a network here: run this through unshare --net")


def start_beside(command: list[str], environment: dict[str, str]) -> str:
    """Start a server that ends with the jail; what it says first, its URL."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**environment, **server_environment()})
    assert server.stdout
    return server.stdout.readline().strip()


def bring_loopback_up() -> None:
    """Without iproute2, which is not everywhere."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", UP_AND_RUNNING))


if __name__ == "__main__":
    sys.exit(main())
