"""Files that are secrets by name or content stay out of an index unless the user asks for them."""

from pathlib import Path

import pytest

from dowse import Index
from dowse.source.secrets import secret_content_reason
from dowse.source.walk import SkippedFile, WalkedFile, walk

SECRETS = """
.env .env.local .env.production .ENV prod.env app/.env.test id_rsa deploy/id_ed25519 server.pem cert/a.P12
a.pfx app.jks app.keystore putty.ppk .netrc _netrc .pgpass .pypirc .git-credentials home/.aws/credentials
.docker/config.json .dockercfg .kube/config kubeconfig .htpasswd .vault-token terraform.tfstate
terraform.tfstate.backup prod.tfvars prod.auto.tfvars.json .s3cfg .boto .my.cnf credentials.json secrets.yml
k8s/secrets.yaml .terraformrc rclone.conf .config/gh/hosts.yml .cargo/credentials .cargo/credentials.toml
.gem/credentials config/master.key config/credentials.yml.enc passwords.kdbx
application_default_credentials.json
""".split()
ORDINARY = """
.env.example .env.sample .env.template .env.dist .env.defaults example.env .envrc env env.py src/env/main.py
secrets.py config.json config credentials hosts.yml token id_rsa.pub keystore key.py settings.xml Secrets.java
pkg/credentials/store.go variables.tf terraform.tfvars.example environment.ts tokens.json auth.json
""".split()


def build(root: Path, names: list[str], text: str = "value = 1\n") -> Path:
    """Write files with the same text."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def kept(root: Path, **options: object) -> set[str]:
    """The paths that the walker keeps."""
    return {each.path for each in walk(root, user_ignores=False, **options) if isinstance(each, WalkedFile)}


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_left_out_by_name(tmp_path, name):
    build(tmp_path, [name])
    (found,) = walk(tmp_path, user_ignores=False)
    assert isinstance(found, SkippedFile)
    assert found.reason.startswith("secret by name (")
    assert kept(tmp_path, include_secrets=True) == {name}


def test_other_names_are_no_secrets(tmp_path):
    assert kept(build(tmp_path, ORDINARY)) == set(ORDINARY)


def test_directories_of_keys_are_left_out(tmp_path):
    build(tmp_path, [".ssh/config", ".gnupg/x.txt", "a.py"])
    assert kept(tmp_path) == {"a.py"}
    assert kept(tmp_path, include_secrets=True) == {".ssh/config", ".gnupg/x.txt", "a.py"}


def test_no_pattern_brings_a_secret_back(tmp_path):
    build(tmp_path, [".env", "a.py"])
    (tmp_path / ".dowseignore").write_text("!.env\n!**\n")
    (tmp_path / ".gitignore").write_text("!.env\n")
    for rules in ({}, {"exclude": ["!.env"]}):
        assert kept(tmp_path, **rules) == {".dowseignore", ".gitignore", "a.py"}


PRIVATE = "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n" * 3
CONTENTS = {
    "deploy.key": PRIVATE,
    "release.asc": PRIVATE.replace("OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    "id": "\n" + PRIVATE,
    "keys.txt": "# created: 2024-01-01\n# public key: age1\nAGE-SECRET-KEY-1" + "Q" * 58,
    ".npmrc": "//registry.npmjs.org/:_authToken=" + "npm_" + "x1" * 18,
    "sub/NuGet.Config": '<add key="ClearTextPassword" value="hunter2" />',
    "robot.json": '{"type": "service_account", "private_key": "…"}',
}


@pytest.mark.parametrize("name", CONTENTS)
def test_secrets_are_left_out_by_content(name):
    assert secret_content_reason(CONTENTS[name].encode(), name).startswith("secret by content (")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("slides.key", "a presentation"),
        (".npmrc", "registry=https://registry.npmjs.org/\n//r/:_authToken=${NPM_TOKEN}\n"),
        ("release.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"),
        ("pem.py", 'HEAD = "-----BEGIN PRIVATE KEY-----"\n'),
        ("a.json", '{"type": "module"}'),
    ],
)
def test_other_contents_are_no_secrets(name, text):
    assert secret_content_reason(text.encode(), name) == ""


def test_a_change_of_the_setting_counts_at_the_next_update(tmp_path, monkeypatch):
    for name in ("DOWSE_CACHE_DIR", "DOWSE_DATA_DIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    root = build(tmp_path / "repo", ["a.py", ".env"])
    (root / "deploy.key").write_text(PRIVATE)

    def files(**settings: object) -> set[str]:
        with Index.open(root, encoder="none", **settings) as index:
            index.update()
            assert not index.contents.changes(exact=True).count
            return {file.path for file in index.contents.files()}

    assert files() == {"a.py"}
    with Index.open(root, encoder="none") as index:
        reasons = dict(index.contents.skipped())
    assert reasons[".env"] == "secret by name (.env)"
    assert reasons["deploy.key"] == "secret by content (private key)"
    assert files(include_secrets=True) == {"a.py", ".env", "deploy.key"}
    with Index.open(root, encoder="none") as index:  # what a search refreshes with
        assert index.internals.as_built().settings.include_secrets
        assert not index.internals.as_built().contents.changes(exact=True).count
    assert files() == {"a.py"}
    assert files(include_secrets=True) == {"a.py", ".env", "deploy.key"}
