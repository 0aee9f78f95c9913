"""Whether a server may start: secrets.toml with its log-in and roles, its modes, and the provider that it names.

Every fault is one sentence for the administrator. No sentence repeats a secret.
"""

import ipaddress
import json
import os
import re
import stat
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ppsets_core.access import ROLES, RoleRules
from ppsets_core.errors import InputError

LOCALHOST, CALLBACK = "localhost", "/oauth2callback"
NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
METADATA = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
LEAST_DISTINCT_BYTES = 16
"""Of 32 random bytes about 30 are distinct, and fewer than 16 never (less than once in 10^15)."""
PROVIDER_SECONDS, PROVIDER_BYTES = 10, 1_000_000


@dataclass(frozen=True)
class LoginSettings:
    """How people log in: where they come back to, what signs their cookies, who has which role."""

    redirect: str
    cookie_secret: str
    metadata_url: str
    rules: RoleRules

    @property
    def host(self) -> str:
        return urlsplit(self.redirect).hostname or ""

    @classmethod
    def of(cls, secrets: Mapping[str, object]) -> "LoginSettings | None":
        """From [auth] and [roles]; None without either. Raises InputError with one line for each fault."""
        if "auth" not in secrets and "roles" not in secrets:
            return None
        auth = _section(secrets, "auth")
        faults = list(_faults_of_auth(auth))
        rules = None
        try:
            rules = _rules(_section(secrets, "roles"))
        except InputError as error:
            faults.append(str(error))
        if faults or rules is None:
            raise InputError("\n".join(faults))
        return cls(str(auth["redirect_uri"]), str(auth["cookie_secret"]), str(auth["server_metadata_url"]), rules)


def read_secrets(files: Iterable[str], *, must_exist: bool) -> dict[str, object]:
    """Read these TOML files as Streamlit does: sections of later files replace those of earlier ones."""
    found: dict[str, object] = {}
    for path in map(Path, files):
        try:
            if path.suffix != ".toml":
                raise InputError(f"The secrets file {path} must be a .toml file (docs/deploy.md).")
            sections = tomllib.loads(path.read_bytes().decode())
        except FileNotFoundError:
            if must_exist:
                raise InputError(f"The secrets file {path} is not there (STREAMLIT_SECRETS_FILES).") from None
        except OSError as error:
            raise InputError(f"The secrets file {path} cannot be read ({error.strerror}).") from None
        except UnicodeDecodeError as error:
            raise InputError(f"The secrets file {path} is not UTF-8 at byte {error.start + 1:,}.") from None
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"The secrets file {path} is not valid TOML: {error}.") from None
        else:
            if not sections.keys().isdisjoint(("auth", "roles")):
                check_private(path, 0o600)
            found |= sections
    return found


def check_private(path: Path, mode: int) -> None:
    """Refuse a file or folder that other accounts may open."""
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InputError(f"Other accounts can open {path}; run: chmod {mode:o} '{path}'")


def read_provider(url: str) -> dict[str, object]:
    """What the provider says about itself; raises InputError where nobody could log in by it."""
    try:
        with urllib.request.urlopen(url, timeout=PROVIDER_SECONDS) as answer:
            found = json.loads(answer.read(PROVIDER_BYTES))
    except OSError as error:
        why = getattr(error, "reason", None) or error
        raise InputError(f"The provider does not answer at {url} ({why}). Nobody could log in.") from None
    except ValueError:
        found = None
    missing = [name for name in METADATA if not isinstance(found, dict) or not found.get(name)]
    if missing:
        words = f"{url} is not an OpenID provider's configuration: it has no {missing[0]}."
        raise InputError(f"[auth] server_metadata_url: {words} It usually ends in /.well-known/openid-configuration.")
    return found


def claim_note(provider: Mapping[str, object], rules: RoleRules) -> str:
    """A hint where the provider lists its claims and that of [roles] is not among them; '' elsewhere."""
    listed, first = provider.get("claims_supported"), rules.claim.split(".")[0]
    if not isinstance(listed, list) or rules.claim in listed or first in listed:
        return ""
    return (
        f"The provider does not list the claim '{rules.claim}' of [roles]. If its ID tokens lack it, nobody has a role."
    )


def is_local(address: str | None) -> bool:
    """Whether nobody but this machine can reach a server at this address; none means all addresses."""
    try:
        return address == LOCALHOST or ipaddress.ip_address(address or "0.0.0.0").is_loopback
    except ValueError:
        return False


def _section(secrets: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = secrets.get(name)
    if not isinstance(found, Mapping):
        needed = "people must log in before they have roles" if name == "auth" else "without it nobody has a role"
        raise InputError(f"secrets.toml has no section [{name}]: {needed} (docs/deploy.md).")
    return found


def _faults_of_auth(auth: Mapping[str, object]) -> Iterator[str]:
    missing = [name for name in NEEDED if not isinstance(auth.get(name), str) or not auth[name]]
    for name in missing:
        yield f"[auth] has no {name}, or it is not a text (docs/deploy.md)."
    if "cookie_secret" not in missing and not _is_random(str(auth["cookie_secret"])):
        yield "[auth] cookie_secret must be 64 random hexadecimal digits. Make them with: openssl rand -hex 32"
    for name, end in (("redirect_uri", CALLBACK), ("server_metadata_url", "")):
        if name not in missing and not _is_address(str(auth[name]), end):
            ending = f" that ends in {end}" if end else ""
            yield f"[auth] {name} must be an https:// address{ending} (http:// on localhost only)."


def _is_random(secret: str) -> bool:
    """Hexadecimal, and neither repeated nor typed; whether it was ever published nobody can tell from it."""
    return bool(re.fullmatch("[0-9a-f]{64}", secret)) and len(set(bytes.fromhex(secret))) >= LEAST_DISTINCT_BYTES


def _is_address(url: str, end: str) -> bool:
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_local(parts.hostname))
    return is_safe and bool(parts.hostname) and parts.path.endswith(end)


def _rules(section: Mapping[str, object]) -> RoleRules:
    rules = RoleRules.of(section)
    if not any(rules.values.values()):
        raise InputError(f"[roles] gives nobody a role: list groups for {', '.join(ROLES)}.")
    return rules
