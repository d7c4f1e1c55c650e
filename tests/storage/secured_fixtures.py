"""A node with TLS, users and roles, and connections to it with the credentials of a role."""

from __future__ import annotations

import contextlib
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dowse.storage.elastic.backend import ElasticBackend
from storage import security_files
from storage.cluster import NoCluster, shared_secured_node

_DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "CLUSTER.md"
_SMALL = "?shards=1&replicas=0"
_READY_SECONDS = 120.0


@dataclass
class Secured:
    """The node, and its administrator."""

    url: str
    folder: Path
    made: list[ElasticBackend] = field(default_factory=list)

    @property
    def ca(self) -> Path:
        """The certificate of the authority that signed the node's."""
        return self.folder / security_files.CA

    @property
    def password(self) -> str:
        """The password of the superuser."""
        return (self.folder / security_files.PASSWORD).read_text()

    def address(self, name: str, user: str = "") -> str:
        """Return the address of an index."""
        host = self.url.partition("://")[2]
        return f"elastics://{user + '@' if user else ''}{host}/{name}{_SMALL}"

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request as the superuser; again while the index of users and keys is being created."""
        authorization = security_files.basic(security_files.ADMIN, self.password)
        headers = {"Authorization": authorization, "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        context = ssl.create_default_context(cafile=str(self.ca))
        deadline = time.monotonic() + _READY_SECONDS
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                    found: dict[str, Any] = json.load(answer)
                    return found
            except urllib.error.HTTPError as error:
                if error.code != 503 or time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def key(self, role: str, *names: str) -> str:
        """Return an API key with a role of docs/CLUSTER.md for some indices."""
        roles = {name: documented_role(role, name) for name in names}
        key = self.ask("POST", "/_security/api_key", {"name": uuid.uuid4().hex, "role_descriptors": roles})
        return str(key["encoded"])

    def user(self, role: str, name: str) -> tuple[str, str]:
        """Return name and password of a new user with a role of docs/CLUSTER.md for an index."""
        user, password = f"{role}-{name}", uuid.uuid4().hex
        self.ask("PUT", f"/_security/role/{user}", documented_role(role, name))
        self.ask("PUT", f"/_security/user/{user}", {"password": password, "roles": [user]})
        return user, password

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the variables of a command with credentials."""
        return {"DOWSE_ELASTIC_CA": str(self.ca), **variables}

    def backend(
        self, name: str, *, source: str = "shop", key: str = "", user: tuple[str, str] = ("", "")
    ) -> ElasticBackend:
        """Return an index, connected to with an API key, or as a user."""
        variables = {"DOWSE_ELASTIC_API_KEY": key, "DOWSE_ELASTIC_PASSWORD": user[1]}
        backend = ElasticBackend(self.address(name, user[0]), source)
        with variables_set(self.environment(**variables)):
            assert backend.client  # credentials are read when a connection opens
        self.made.append(backend)
        return backend


def documented_role(role: str, name: str) -> dict[str, Any]:
    """Return a role as docs/CLUSTER.md has it, for another index than `code`."""
    text = _DOCUMENT.read_text(encoding="utf-8")
    found = re.search(rf"PUT /_security/role/dowse-code-{role}\n(.*?)```", text, re.DOTALL)
    assert found, f"docs/CLUSTER.md has no role of a {role}"
    body: dict[str, Any] = json.loads(found[1].replace("dowse-code-", f"dowse-{name}-"))
    return body


@contextlib.contextmanager
def variables_set(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a moment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A real node with security."""
    base = tmp_path_factory.getbasetemp()
    place = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with contextlib.ExitStack() as held:
        try:
            node = Secured(*held.enter_context(shared_secured_node(place)))
        except NoCluster as reason:
            if os.environ.get("DOWSE_REQUIRE_CLUSTER"):
                pytest.fail(str(reason))
            pytest.skip(str(reason))
        yield node
        for backend in node.made:
            backend.close()


@pytest.fixture
def index_name() -> str:
    """The name of an index that does not exist."""
    return f"test-{uuid.uuid4().hex[:12]}"
