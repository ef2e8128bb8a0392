"""Lists where secrets lie: paths below a home, names of files, environment variables, git settings.

The guard denies commands that read these, the place hides them. To hide what a user has:

    secrets_of_user(os.environ)     existing paths below the home, and those that variables name
    SYSTEM                          paths outside the homes
    is_secret_name(name), is_secret_in(folder, name)    for a file, wherever it lies
    is_secret_variable(name, value) for the environment
    without_credentials(text)       for `.git/config` and its kin

What these lists miss, docs/guard.md says.
"""

from __future__ import annotations

import os

from shared.clients import known
from shared.paths import folded

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Files, and folders with all that is in them, below a home. `~` stands for a space.
_BELOW_A_HOME = """
.ssh .gnupg .pki .password-store .local/share/keyrings .gnome2/keyrings .local/share/kwalletd
.kde/share/apps/kwallet .kde4/share/apps/kwallet .config/sops .config/age .electrum .bitcoin
.ethereum .config/op .config/1Password .config/Bitwarden .config/keepassxc .Xauthority .ICEauthority

.netrc _netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .gcm
.git-credential-cache .cache/git/credential .config/gh/hosts.yml .config/hub .config/glab-cli
.config/lab .config/tea .config/github-copilot

.docker/config.json .docker/contexts .docker/machine .docker/trust .dockercfg .kube .minikube
.config/containers/auth.json .config/helm .config/argocd .argocd .config/k3d

.aws .azure .gcloud .config/gcloud .oci .aliyun .bluemix .chef .boto .s3cfg .databrickscfg .snowsql
.config/doctl .config/hcloud .config/scw .config/linode-cli .config/rclone .config/flyctl .fly
.local/share/heroku .config/heroku .config/vercel .local/share/com.vercel.cli .config/netlify
.config/configstore .config/.wrangler .wrangler .cloudflared .supabase .railway .expo/state.json
.config/ngrok .ngrok2 .config/stripe .pulumi/credentials.json .terraform.d/credentials.tfrc.json
.netlify .terraformrc .vault-token .dbt/profiles.yml .kaggle .huggingface .cache/huggingface/token
.cache/huggingface/stored_tokens

.npmrc .yarnrc .yarnrc.yml .pypirc .pip/pip.conf .config/pip/pip.conf .config/pypoetry/auth.toml
.local/share/uv/credentials .condarc .conan/.conan.db .platformio/appstate.json .stack/upload
.luarocks/upload_config.lua .cargo/credentials .cargo/credentials.toml
.gem/credentials .local/share/gem/credentials .bundle/config .composer/auth.json
.config/composer/auth.json .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
.sbt/.credentials .ivy2/.credentials .nuget/NuGet/NuGet.Config .config/NuGet/NuGet.Config
.hex/hex.config .pub-cache/credentials.json .config/dart/pub-credentials.json .jfrog

.microsoft/usersecrets .aspnet/DataProtection-Keys .sentryclirc .modal.toml .turso .config/turso
.config/neonctl .config/planetscale .config/jira .jira.d .comet.config .cdsapirc .openai
.aider.conf.yml .continue .config/goose/secrets.yaml .config/io.datasette.llm/keys.json

.android/adbkey .ansible/galaxy_token .circleci/cli.yml .config/filezilla
.config/uv/credentials.toml .cvspass .env .local/share/atuin .local/share/pypoetry/auth.toml .mc
.passwd-s3fs .purple/accounts.xml .secrets .snowflake .subversion/auth .travis/config.yml .tsh
.vault_pass .vnc/passwd .weechat/sec.conf

.mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware
.config/microsoft-edge .config/opera .config/vivaldi snap/firefox snap/chromium
.var/app/org.mozilla.firefox .var/app/com.google.Chrome .config/Slack .config/discord .config/Signal
.local/share/TelegramDesktop Library/Keychains Library/Cookies Library/Safari Library/Messages
Library/Mail Library/Application~Support/Google Library/Application~Support/Firefox
.config/Bitwarden~CLI .config/rbw .local/share/rbw .lastpass .local/share/lpass .config/keybase
.config/Element .config/Mattermost .config/microsoft-edge-beta .var/app/com.brave.Browser
.cache/mozilla .cache/google-chrome .cache/chromium .librewolf .zen

.config/Code/User/globalStorage .config/Code/User/workspaceStorage .config/Code/User/History
.config/Code~-~Insiders/User .config/VSCodium/User .config/Cursor/User .config/Windsurf/User
.vscode-server/data/User .cursor-server/data/User .config/JetBrains .local/share/zed
.local/share/DBeaverData .dbeaver .dbeaver4 .config/Postman Postman .config/Insomnia
.config/beekeeper-studio .config/MongoDB~Compass .config/robo3t .3T .config/pgadmin .pgadmin
.config/httpie .httpie .config/wireguard .wireguard .openvpn .local/share/tailscale

.pgpass .my.cnf .mylogin.cnf .mongorc.js .dbshell .viminfo .lesshst .smbcredentials .fetchmailrc
.msmtprc .mbsyncrc .offlineimaprc .config/msmtp .config/openvpn .local/share/fish/fish_history
.bash_history .zsh_history .zhistory .ash_history .sh_history .histfile .python_history
.node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history
.local/share/zsh .local/state/zsh .local/state/bash .config/nushell/history.txt
.config/nushell/history.sqlite3 .local/share/powershell/PSReadLine .local/state/nvim/shada
.local/share/nvim/shada .ipython/profile_default/history.sqlite .local/share/recently-used.xbel
"""
HOME = (*(name.replace("~", " ") for name in _BELOW_A_HOME.split()), *known.SECRETS)
SYSTEM = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
    "/etc/sudoers.d", "/etc/security/opasswd", "/etc/ssl/private", "/etc/pki/tls/private",
    "/etc/letsencrypt", "/etc/kubernetes", "/etc/rancher", "/etc/docker/key.json", "/etc/wireguard",
    "/etc/openvpn", "/etc/NetworkManager/system-connections", "/etc/krb5.keytab",
    "/run/secrets", "/var/run/secrets", "/var/lib/kubelet", "/etc/ipsec.secrets",
    "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/etc/wpa_supplicant", "/var/lib/tailscale",
    *(f"/etc/ssh/ssh_host_{kind}_key" for kind in ("rsa", "dsa", "ecdsa", "ed25519")),
)  # fmt: skip
# Where homes lie, in small letters, also those of Windows under WSL; and homes elsewhere.
HOMES = ("/home", "/users", "/var/home", "/mnt/c/users", "/mnt/d/users")
ROOTS = ("/root", "/var/root")
# A variable → the path below its value that is secret; "" means all of it.
_VARIABLES = {
    "DOCKER_CONFIG": "config.json", "CARGO_HOME": "credentials.toml", "GH_CONFIG_DIR": "hosts.yml",
    **known.SECRET_VARIABLES,
    **dict.fromkeys((
        "KUBECONFIG", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "CLOUDSDK_CONFIG",
        "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CONFIG_DIR", "GNUPGHOME", "PASSWORD_STORE_DIR",
        "NPM_CONFIG_USERCONFIG", "PGPASSFILE", "NETRC", "GLAB_CONFIG_DIR", "REGISTRY_AUTH_FILE",
        "TF_CLI_CONFIG_FILE", "HISTFILE", "XAUTHORITY", "PIP_CONFIG_FILE", "BOTO_CONFIG",
        "ANSIBLE_VAULT_PASSWORD_FILE", "HF_TOKEN_PATH",
    ), ""),
}  # fmt: skip
_XDG = {
    "XDG_CONFIG_HOME": ".config/", "XDG_DATA_HOME": ".local/share/", "XDG_CACHE_HOME": ".cache/",
}  # fmt: skip

# Names of secret files in any folder, in lower case.
NAMES = frozenset((
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc", ".dockercfg",
    ".git-credentials", ".dev.vars", ".vault_pass", ".vault-token", ".secrets", "kubeconfig",
    ".htpasswd", ".s3cfg", ".boto",
    ".credentials", ".credentials.json", "credentials.json", "credentials.db", "client_secret.json",
    "service-account.json", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml",
    "shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "opasswd", "wallet.dat", "rclone.conf",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "master.key",
    "key.asc", "secret.asc", "state.vscdb", "credentials-config.json", "privatekey", "wg0.conf",
))  # fmt: skip
BEGINNINGS = (".env", "id_rsa.", "id_ed25519.", "id_ecdsa.", "id_dsa.", "ssh_host_")
ENDINGS = (
    ".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".env",
    ".pkcs12", ".keychain", ".keychain-db", "_history", ".ovpn", ".tfstate", ".tfvars", "_rsa",
    "_ed25519", "_ecdsa", "_dsa", "private.asc",
)  # fmt: skip
# A name with one of these endings shows how a secret file looks, or is the public half of a key.
HARMLESS = (".example", ".sample", ".template", ".pub")
# Where variables of an environment of Python are kept, below its folder: by conda itself, by its
# guide, and by virtualenvwrapper.
IN_ENVIRONMENTS = ("conda-meta/state", "etc/conda/activate.d/env_vars.sh", "bin/postactivate")
# What editors and people add to the name of a copy; Emacs also puts `#` or `.#` before it.
COPIES = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo")

# Names that are secret only in a folder of that name.
_IN_FOLDERS = frozenset(((".aws", "credentials"), (".kube", "config"), (".docker", "config.json")))

_WORDS = frozenset((
    "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "PWORD",
    "PW", "SK",
    "CREDENTIAL", "CREDENTIALS", "CREDS", "KEY", "KEYS", "APIKEY", "PAT", "JWT", "AUTH", "COOKIE",
    "DSN", "PRIVATE", "WEBHOOK", "CONNSTR", "HISTFILE", "KUBECONFIG", "XAUTHORITY", "KRB5CCNAME",
    "NETRC", "BEARER", "OAUTH",
))  # fmt: skip
_WORD_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "PASSPHRASE")
# Settings for git, which may hold credentials; git refuses to run if a part of them is missing.
_GIT_SETTINGS = (
    "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_",
)  # fmt: skip
_AGENTS = ("GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "SSH_AUTH_SOCK")
SECRET_SETTINGS = ("extraheader", "token", "pass", "secret", "credential", "cookie", "insteadof")


class SecretPlaces:
    """Tells of any path, in any letter case, whether it is a secret by where it lies."""

    __slots__ = ("_homes", "_others")

    def __init__(self, environment: Mapping[str, str]) -> None:
        home = folded(environment.get("HOME", "").rstrip("/"))
        real = folded(os.path.realpath(environment["HOME"])) if home else ""
        self._homes = tuple(f"{one}/" for one in dict.fromkeys((home, real, *ROOTS)) if one)
        self._others = (
            *_LOWER_SYSTEM,
            *map(folded, _variable_paths(environment)),
        )

    def __contains__(self, path: str) -> bool:
        lowered = folded(path)
        below = self._below_a_home(lowered)
        if any(beginning in _LOWER_HOME for beginning in _beginnings(below)):
            return True
        return any(lowered == o or lowered.startswith(f"{o}/") for o in self._others)

    def below(self, folder: str) -> bool:
        """Return whether an absolute path is a folder in which a secret place lies."""
        above = f"{folded(folder).rstrip('/')}/"
        if any(home.startswith(above) for home in self._homes):
            return True
        below = f"{self._below_a_home(above)}"
        inside = below and any(name.startswith(below) for name in _LOWER_HOME)
        return bool(inside) or any(other.startswith(above) for other in self._others)

    def _below_a_home(self, lowered: str) -> str:
        """Return the part of an absolute path that lies below a home, "" if none does."""
        for home in self._homes:
            if lowered.startswith(home):
                return lowered[len(home) :]
        for above in HOMES:
            if lowered.startswith(f"{above}/"):
                return lowered[len(above) + 1 :].partition("/")[2]
        return ""


def secrets_of_user(environment: Mapping[str, str]) -> list[str]:
    """Return the existing secret paths below the user's home, and those that variables name."""
    home = environment.get("HOME", "")
    below = secrets_below(home) if os.path.isabs(home) else []
    return list(dict.fromkeys((*below, *filter(os.path.lexists, _variable_paths(environment)))))


def secrets_below(home: str) -> list[str]:
    """Return the secret paths that exist below a home; its own names are listed only once."""
    try:
        there = {*os.listdir(home)}
    except OSError:
        there = {name.partition("/")[0] for name in HOME}
    wanted = (name for name in HOME if name.partition("/")[0] in there)
    return list(filter(os.path.lexists, (os.path.join(home, name) for name in wanted)))


def is_secret_name(name: str) -> bool:
    """Return whether a file is a secret by its name, without folders, in any letter case."""
    lowered = folded(name)
    bare = lowered.rstrip("#").removeprefix(".#").lstrip("#")
    while copy := next(filter(bare.endswith, COPIES), ""):
        bare = bare.removesuffix(copy)
    # An editor puts a dot before the name of a copy.
    names = (bare,) if bare == lowered else (bare, bare.removeprefix("."))
    return any(
        n in NAMES or n.startswith(BEGINNINGS) or n.endswith(ENDINGS)
        for n in names
        if not n.endswith(HARMLESS)
    )


def is_secret_in(folder: str, name: str) -> bool:
    """Return whether a file is a secret by its name, or by the name of the folder it lies in."""
    within = (folded(os.path.basename(folder)), folded(name))
    return is_secret_name(name) or within in _IN_FOLDERS


def is_secret_variable(name: str, value: str = "") -> bool:
    """Return whether an environment variable smells of a secret, by its name or by a URL in it."""
    words = name.upper().replace("-", "_").split("_")
    if name in _AGENTS or name.startswith(_GIT_SETTINGS) or not _WORDS.isdisjoint(words):
        return True
    if "PWD" in words[1:]:  # alone it is the shell's folder
        return True
    return any(word.endswith(_WORD_ENDINGS) for word in words) or without_userinfo(value) != value


def without_credentials(text: str) -> str:
    """Return git configuration or other text without passwords in URLs and in settings."""
    joined = text.replace("\\\n", "")
    return "".join(_without_credentials(line) for line in joined.splitlines(keepends=True))


def without_userinfo(text: str) -> str:
    """Return text in which `***` replaces name and password in URLs; `ssh://git@host` stays."""
    first, *rest = text.split("://")
    scheme, found = first, [first]
    for piece in rest:
        ends = [piece.find(end) for end in "/ \t\n\"'"]
        host = piece[: min((end for end in ends if end >= 0), default=len(piece))]
        user, at, _ = host.rpartition("@")
        harmless = not at or (scheme.endswith("ssh") and ":" not in user)
        found.append(piece if harmless else f"***@{piece[len(user) + 1 :]}")
        scheme = piece
    return "://".join(found)


def _without_credentials(line: str) -> str:
    shown = without_userinfo(line)
    key, equals, value = shown.partition("=")
    secret = any(part in key.lower() for part in SECRET_SETTINGS if part != "insteadof")
    if equals and not key.lstrip().startswith(("[", "#", ";")) and (secret or "password=" in value):
        end = "\n" if line.endswith("\n") else ""
        return f"{key}= ***{end}"
    return shown


def _variable_paths(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the secret paths that environment variables name."""
    for variable in environment:
        if variable in _VARIABLES:
            for value in filter(os.path.isabs, environment[variable].split(os.pathsep)):
                yield os.path.normpath(os.path.join(value, _VARIABLES[variable]))
        elif variable in _XDG and os.path.isabs(environment[variable]):
            folder, other = _XDG[variable], environment[variable]
            yield from (os.path.join(other, n.removeprefix(folder)) for n in HOME if folder in n)


def _beginnings(path: str) -> Iterator[str]:
    """Yield a path's first part, its first two parts, and so on."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


_LOWER_HOME = frozenset(name.lower() for name in HOME)
_LOWER_SYSTEM = tuple(path.lower() for path in SYSTEM)
