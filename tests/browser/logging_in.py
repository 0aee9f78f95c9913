"""The app for several people: a provider that knows them, on this machine, and what each does to come in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.driving import settle
from tests.browser.server import App, free_port, serve
from tests.test_server_check import write_secrets

GROUPS = {"vera": ["readers"], "carl": ["data"], "cora": ["data"], "stella": ["office"]}


@contextmanager
def serve_with_login(folder: Path) -> Iterator[tuple[App, str]]:
    """The app, and its provider's address."""
    from oidc_provider_mock import User, run_server_in_thread

    users = [User(sub=who, claims={"name": who.title(), "groups": groups}) for who, groups in GROUPS.items()]
    with run_server_in_thread(user_claims=users) as provider:
        issuer, port = f"http://localhost:{provider.server_port}", free_port()
        redirect, metadata = f"http://localhost:{port}/oauth2callback", f"{issuer}/.well-known/openid-configuration"
        write_secrets(folder / "secrets.toml", redirect_uri=redirect, server_metadata_url=metadata)
        with serve(folder, port, STREAMLIT_SECRETS_FILES=str(folder / "secrets.toml")) as app:
            yield app, issuer


def log_in(page, app: App, who: str) -> None:
    page.goto(app.url)
    page.get_by_role("button", name="Log in", exact=True).press("Enter")
    page.get_by_role("button", name=who, exact=True).press("Enter")
    page.wait_for_url(f"{app.url}/**")
    page.get_by_text(f"Logged in as {who.title()}").first.wait_for()
    settle(page)
