"""A wire to the server that can be cut."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest


class Wire:
    """A wire to the server. Cut, it passes on a statement with these bytes in it, and not the answer to that."""

    def __init__(self, server: Any) -> None:
        self._to = f"{server.folder}/.s.PGSQL.{server.port}"
        self.cut_at = b""
        self.mends = True
        """Whether a connection can be opened again after the cut."""
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self.cuts and not self.mends:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._to)
                for work, source, to in ((self._pass_on, client, server), (_pass_back, server, client)):
                    threading.Thread(target=work, args=(source, to), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with client, suppress(OSError):
            while data := client.recv(1 << 16):
                is_cut = bool(self.cut_at) and self.cut_at in data
                if is_cut:
                    self.cut_at = b""
                    self.cuts += 1
                    client.shutdown(socket.SHUT_RDWR)
                server.sendall(data)
                if is_cut:
                    break  # the server does what it was told, and finds nobody to tell
            server.shutdown(socket.SHUT_WR)


def _pass_back(server: socket.socket, client: socket.socket) -> None:
    with server, suppress(OSError):
        while data := server.recv(1 << 16):
            client.sendall(data)
        client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def wire(postgresql: Any) -> Iterator[Wire]:
    wire = Wire(postgresql)
    yield wire
    wire.close()
