"""Files that hold secrets by their name: left out of an index unless the user asks for them.

One table for names, and one for the few names whose content decides: `.npmrc` is one with a token in it.
Only the user's own setting `include_secrets` turns this off; nothing in a repository does.
"""

from __future__ import annotations

import re

# How the reasons begin that `dowse status --files` gives.
BY_NAME, BY_CONTENT = "secret by name", "secret by content"

_ANYWHERE: tuple[str, ...] = ()

# File names in small letters, with the directories that they are a secret in (none: in all of them).
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

# What a name ends with after its last dot: key stores, password safes, state and variables of Terraform.
_EXTENSIONS = frozenset(
    """
    env pem p12 pfx pkcs12 p8 jks keystore bks bcfks ppk kdbx kdb psafe3 agilekeychain keychain
    keychain-db kwallet tfstate tfvars agekey
    """.split()
)
# Of these, names that say so hold placeholders.
_VARIABLES = frozenset({"env", "tfvars"})

# `.env.example` and the like are documentation: they say which variables there are.
_SAMPLES = frozenset("example examples sample samples template tmpl tpl dist default defaults schema".split())

# Whole directories.
_DIRECTORIES = frozenset({".ssh", ".gnupg", ".password-store", ".aws-vault"})

# What is worth a closer look: a walk compares every name with these.
SUSPECT_NAMES = frozenset(_NAMES) | _DIRECTORIES
SUSPECT_EXTENSIONS = _EXTENSIONS | {"json", "backup"}  # for states and variables of Terraform
SUSPECT_BEGINNING = ".env."

# Names whose content decides: (how the name ends, what it holds then, what to call it).
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

# The beginning of a file that is a private key, whatever it is called.
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
    """Why a file is left out for being a secret by its name, or ""; its path tells the directory it is in."""
    lowered = name.lower()
    parents = _NAMES.get(lowered)
    if parents is not None and (not parents or _parent(path) in parents):
        return f"{BY_NAME} ({name})"
    extension = lowered[lowered.rfind(".") + 1 :]
    if lowered.startswith(SUSPECT_BEGINNING):
        return "" if _is_sample(lowered) else f"{BY_NAME} (.env.*)"
    if ".tfstate." in lowered or lowered.endswith(".tfvars.json"):
        return f"{BY_NAME} (*.tfstate, *.tfvars)"
    # "keystore" and "env" are also the whole names of scripts.
    if extension not in _EXTENSIONS or len(extension) == len(lowered):
        return ""
    return "" if extension in _VARIABLES and _is_sample(lowered) else f"{BY_NAME} (*.{extension})"


def secret_directory_reason(name: str) -> str:
    """Why a whole directory is left out for being a secret by its name, or ""."""
    return f"{BY_NAME} ({name}/)" if name.lower() in _DIRECTORIES else ""


def secret_content_reason(data: bytes, path: str) -> str:
    """Why a file is left out for being a secret by what is in it, or ""."""
    head = data[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(_KEY_HEADS) and any(word in head for word in _KEY_WORDS):
        return f"{BY_CONTENT} (private key)"
    lowered = path[path.rfind("/") + 1 :].lower()
    for endings, pattern, what in _CONTENTS:
        if lowered.endswith(endings) and re.search(pattern, data[:_CONTENT_BYTES], re.MULTILINE):
            return f"{BY_CONTENT} ({what})"
    return ""


def is_secret_reason(reason: str) -> bool:
    """Whether a file was left out for being a secret."""
    return reason.startswith((BY_NAME, BY_CONTENT))


def _is_sample(lowered: str) -> bool:
    """Whether a name says that it holds placeholders: `.env.example`, `sample.env`, `.env.test.template`."""
    return not _SAMPLES.isdisjoint(re.split(r"[._-]", lowered))


def _parent(path: str) -> str:
    """The name of the directory that a file is in, in small letters."""
    parts = path.lower().rsplit("/", 2)
    return parts[-2] if len(parts) > 1 else ""
