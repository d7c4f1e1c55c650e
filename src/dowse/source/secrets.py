"""Secret files: skipped by their name, or by their content, unless the user includes them.

One table has names, and one the few names whose content decides: `.npmrc` is a secret with a token in it.
Only the user's own setting `include_secrets` turns this off; nothing in a repository does.
"""

from __future__ import annotations

import re

# Prefixes of the reasons that indexes store and `dowse status --files` shows.
BY_NAME, BY_CONTENT = "secret by name", "secret by content"

_ANYWHERE: tuple[str, ...] = ()

# File names in lower case, with the directories in which they are secrets (none: in all).
_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        """
        .env env.local .netrc _netrc .pgpass pgpass.conf .pypirc .git-credentials .htpasswd .vault-token
        .dockercfg .dockerconfigjson .s3cfg .boto .my.cnf .mylogin.cnf .terraformrc terraform.rc rclone.conf
        kubeconfig .kubeconfig kubeconfig.yaml kubeconfig.yml .databrickscfg .esmtprc .msmtprc
        id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk id_xmss
        application_default_credentials.json credentials.json client_secret.json client_secrets.json
        service-account.json service_account.json serviceaccount.json
        secrets.yml secrets.yaml secrets.json secrets.toml .secrets .secrets.toml
        credentials.yml credentials.yaml credentials.yml.enc credentials.yaml.enc master.key
        .remote-sync.json .ftpconfig sftp-config.json filezilla.xml sitemanager.xml recentservers.xml
        .dbeaver-data-sources.xml keystore.properties key.properties wallet.dat
        .bash_history .zsh_history .sh_history .psql_history .mysql_history .rediscli_history
        .node_repl_history .python_history .irb_history
        """.split(),
        _ANYWHERE,
    ),
    "credentials": (".aws", ".cargo", ".gem", ".config"),
    "credentials.toml": (".cargo", ".streamlit", ".config"),
    "config.json": (".docker",),
    "config": (".kube", ".snowsql"),
    "hosts.yml": ("gh",),
    "hub": (".config",),
    "accesstokens.json": (".azure",),
    "msal_token_cache.json": (".azure",),
    "credentials.db": ("gcloud",),
    "access_tokens.db": ("gcloud",),
    "auth.json": (".codex", ".composer", "composer"),
    "oauth_creds.json": (".gemini",),
    "settings-security.xml": (".m2",),
    "credentials.tfrc.json": (".terraform.d",),
    "token": (".huggingface", "huggingface"),
    "kaggle.json": (".kaggle",),
    "ngrok.yml": (".ngrok2", "ngrok"),
    "accounts.xml": (".purple",),
}

# Extensions of key stores, password safes, and Terraform's state and variables.
_EXTENSIONS = frozenset(
    """
    env pem p12 pfx pkcs12 p8 jks keystore bks bcfks ppk kdbx kdb psafe3 agilekeychain keychain
    keychain-db kwallet tfstate tfvars agekey
    """.split()
)
# With these extensions, samples are no secrets.
_SAMPLE_EXTENSIONS = frozenset({"env", "tfvars"})

# `.env.example` and the like are documentation: they hold placeholders.
_SAMPLE_WORDS = frozenset(
    "example examples sample samples template tmpl tpl dist default defaults schema".split()
)

# Directories that are secret as a whole.
_DIRECTORIES = frozenset({".ssh", ".gnupg", ".password-store", ".aws-vault"})

# A quick filter for the walk: only names that match it are checked.
SUSPECT_NAMES = frozenset(_NAMES) | _DIRECTORIES
SUSPECT_EXTENSIONS = _EXTENSIONS | {"json", "backup"}  # for Terraform's state and variables
SUSPECT_PREFIX = ".env."

# Names whose content decides: (suffixes of the name, pattern of the secret, its kind).
_TOKEN = rb"(?i:_auth(?:token)?|_password|npmauthtoken|npmauthident)"
_TOKEN += rb"[\"']?\s{0,4}[=:]\s{0,4}[\"']?(?!\$\{|[\"'\s]|$)\S"
_CONTENTS: tuple[tuple[tuple[str, ...], bytes, str], ...] = (
    ((".npmrc", ".yarnrc", ".yarnrc.yml"), _TOKEN, "registry token"),
    (
        ("nuget.config",),
        rb"(?i:<add\s{1,9}key\s{0,9}=\s{0,9}\"(?:cleartext)?password\")",
        "registry password",
    ),
    ((".json",), rb"\"type\"\s{0,9}:\s{0,9}\"service_account\"", "service account"),
)

# The first bytes of private key files, whatever their name.
_KEY_HEADS = (
    b"-----BEGIN ",
    b"---- BEGIN SSH2 ",
    b"PuTTY-User-Key-File-",
    b"AGE-SECRET-KEY-1",
    b"# created: ",
)
_KEY_WORDS = (b"PRIVATE KEY", b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1")
_HEAD_BYTES, _CONTENT_BYTES = 400, 65_536


def secret_file_reason(name: str, path: str) -> str:
    """Return why a file is a secret by its name and directory, or ""."""
    lowered = name.lower()
    parents = _NAMES.get(lowered)
    if parents is not None and (not parents or _parent(path) in parents):
        return f"{BY_NAME} ({name})"
    extension = lowered[lowered.rfind(".") + 1 :]
    if lowered.startswith(SUSPECT_PREFIX):
        return "" if _is_sample(lowered) else f"{BY_NAME} (.env.*)"
    if ".tfstate." in lowered or lowered.endswith(".tfvars.json"):
        return f"{BY_NAME} (*.tfstate, *.tfvars)"
    # "keystore" and "env" are also the whole names of scripts.
    if extension not in _EXTENSIONS or len(extension) == len(lowered):
        return ""
    return "" if extension in _SAMPLE_EXTENSIONS and _is_sample(lowered) else f"{BY_NAME} (*.{extension})"


def secret_directory_reason(name: str) -> str:
    """Return why a directory is secret by its name, or ""."""
    return f"{BY_NAME} ({name}/)" if name.lower() in _DIRECTORIES else ""


def secret_content_reason(data: bytes, path: str) -> str:
    """Return why a file is a secret by its content, or ""."""
    head = data[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(_KEY_HEADS) and any(word in head for word in _KEY_WORDS):
        return f"{BY_CONTENT} (private key)"
    lowered = path[path.rfind("/") + 1 :].lower()
    for endings, pattern, what in _CONTENTS:
        if lowered.endswith(endings) and re.search(pattern, data[:_CONTENT_BYTES], re.MULTILINE):
            return f"{BY_CONTENT} ({what})"
    return ""


def is_secret_reason(reason: str) -> bool:
    """Whether a file was skipped as a secret."""
    return reason.startswith((BY_NAME, BY_CONTENT))


def _is_sample(lowered: str) -> bool:
    """Whether a name is that of a sample: `.env.example`, `sample.env`, `.env.test.template`."""
    return not _SAMPLE_WORDS.isdisjoint(re.split(r"[._-]", lowered))


def _parent(path: str) -> str:
    """Return the name of a file's directory, in lower case."""
    parts = path.lower().rsplit("/", 2)
    return parts[-2] if len(parts) > 1 else ""
