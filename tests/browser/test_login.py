"""Several people at one server: each comes in by their provider, and sees and spends as their role allows."""

import ast
import base64
import json
import re

import pytest
from streamlit.elements import dialog_decorator
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash

from ppsets_core import Ledger
from tests.browser import driving as ui
from tests.browser.logging_in import log_in, serve_with_login
from tests.browser.samples import score_file
from tests.browser.server import ROOT

DIALOG = "_dialog_decorator.<locals>.wrap.<locals>.dialog_content"
pytest.importorskip("oidc_provider_mock", reason="The stand-in for an OpenID provider is not installed.")


@pytest.fixture(scope="module")
def shared(chromium, tmp_path_factory):
    with serve_with_login(tmp_path_factory.mktemp("login")) as found:
        yield found


@pytest.fixture
def app(shared):
    return shared[0]


@pytest.fixture
def ledger(app) -> Ledger:
    return ui.ledger_of(app)


def screens(page) -> list[str]:
    texts = page.get_by_test_id("stSidebarNav").get_by_role("link").all_inner_texts()
    return [text.split()[-1] for text in texts]


def open_account(page, name: str) -> None:
    ui.go_to(page, "Ledger")
    page.get_by_text("Open an account").click()
    page.get_by_label("Name of the data set", exact=True).fill(name)
    page.get_by_label("Why", exact=True).fill("a new cohort")
    ui.press(page, "Open the account")
    ui.sees(page, "is open with a budget of 2")


def spend(page, name: str, seed: int, why: str) -> None:
    ui.go_to(page, "Calibrate")
    ui.choose(page, "A score file")
    ui.upload(page, score_file(f"{name}.csv", 700, seed))
    ui.press(page, "Calibrate …")
    ui.fill(page, "Why", why)
    ui.press(page, ui.SPEND)


def test_without_a_log_in_there_is_no_screen(new_page, app):
    page = new_page()
    frames = received(page)
    for path in ("", "ledger"):
        page.goto(f"{app.url}/{path}")
        ui.button(page, "Log in").wait_for()
        assert page.get_by_test_id("stSidebarNav").count() == 0
        assert page.get_by_role("heading", level=1).all_inner_texts() == ["ppsets"]
    assert page.evaluate(UPLOAD, session_of(frames)) == 403


REPLAY = """async ([address, frames]) => {
    const token = document.cookie.match(/_streamlit_xsrf=([^;]*)/)[1];
    const socket = new WebSocket(address, ['streamlit', token]);
    socket.binaryType = 'arraybuffer';
    let answers = 0;
    socket.onmessage = () => answers++;
    await new Promise(done => socket.onopen = done);
    for (const frame of frames) {
        socket.send(Uint8Array.from(atob(frame), letter => letter.charCodeAt(0)));
        await new Promise(done => setTimeout(done, 4000));
    }
    socket.close();
    return answers;
}"""


def test_a_viewer_cannot_spend_by_any_route(new_page, app, ledger):
    """The demo's button is on a screen that curators have, too: a viewer's click, replayed, is valid for a curator."""
    stella, vera, carl = new_page(), new_page(), new_page()
    log_in(stella, app, "stella")
    open_account(stella, "coronahack-demo")
    sent: list[bytes | str] = []
    vera.on("websocket", lambda socket: (sent.clear(), socket.on("framesent", lambda frame: sent.append(frame))))
    log_in(vera, app, "vera")
    assert screens(vera) == ["Home", "Diagnose", "Explore", "Model"]
    before = len(ledger.releases())
    tab = vera.context.new_page()
    for screen in ("calibrate", "ledger"):
        tab.goto(f"{app.url}/{screen}")
        ui.sees(tab, "This screen is for a curator")
        assert tab.get_by_role("button", name=re.compile("Calibrate …|Raise|Spend")).count() == 0
    tab.goto(f"{app.url}/model?model_view=Fine-tune")
    ui.sees(tab, "Model card")
    assert tab.get_by_role("tab").all_inner_texts() == ["Model card", "Weights"], "private fine-tuning spends, too"
    ui.button(vera, ui.TRY_IT).press("Enter")
    ui.sees(vera, "Only a curator may read records, spend or publish here")
    ui.sees(vera, "no private release")
    frames = [base64.b64encode(frame).decode() for frame in sent if isinstance(frame, bytes)]
    socket = app.url.replace("http", "ws", 1) + "/_stcore/stream"
    assert vera.evaluate(REPLAY, [socket, frames]) > 0
    assert len(ledger.releases()) == before
    log_in(carl, app, "carl")
    assert carl.evaluate(REPLAY, [socket, frames]) > 0
    assert len(ledger.releases()) == before + 1


def test_curators_spend_what_a_steward_opened_and_see_nothing_of_each_other(new_page, app, shared, ledger):
    issuer = shared[1]
    stella, carl, cora = new_page(), new_page(), new_page()
    log_in(stella, app, "stella")
    open_account(stella, "north")
    open_account(stella, "south")
    log_in(carl, app, "carl")
    log_in(cora, app, "cora")
    spend(carl, "north", 1, "the winter audit")
    spend(cora, "south", 2, "the summer audit")
    for page, own, other in ((carl, "north", "south"), (cora, "south", "north")):
        ui.sees(page, "Your calibration")
        ui.go_to(page, "Ledger")
        text = ui.downloaded(page, "Export everything (JSON)").decode()
        assert own in text
        assert other not in text
        assert page.get_by_text("Raise a budget").count() == 0
    told = {one.account: (one.actor.issuer, one.actor.subject, one.reason) for one in ledger.releases()}
    assert told["north"] == (issuer, "carl", "the winter audit")
    assert told["south"] == (issuer, "cora", "the summer audit")
    ui.go_to(stella, "Model")
    ui.go_to(stella, "Ledger")
    exported = json.loads(ui.downloaded(stella, "Export everything (JSON)"))
    assert {one["subject"] for one in exported["releases"]} >= {"carl", "cora"}
    vera = new_page()
    log_in(vera, app, "vera")
    ui.button(carl, "Publish …").click()
    ui.fill(carl.locator("[class*=st-key-confirm_shelf]"), "Why", "for the ward")
    ui.press(carl, re.compile("^Publish release"))
    ui.sees(carl, "Published")
    ui.go_to(vera, "Diagnose")
    ui.press(vera, "Use this calibration", within=vera.locator(".st-key-shelf"))
    ui.sees(vera, "Calibrated with north, release")
    vera.reload()
    ui.sees(vera, "Calibrated with north, release")
    ui.open_score_file(carl, app, score_file("unheard-of.csv", 700, 5))
    ui.sees(carl, "If it is not listed, a steward opens it")
    assert carl.get_by_role("button", name="Calibrate …").count() == 0


def fragments() -> dict[str, tuple[str, str]]:
    """Every function of the screens that Streamlit runs by itself, and what its identifiers are a hash of, but for the
    place on the screen in between."""
    found = {}
    for file in (ROOT / "pages").rglob("*.py"):
        module = "__main__" if file.parent.name == "pages" else ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for decorator in map(ast.unparse, getattr(node, "decorator_list", ())):
                if decorator.startswith("st.fragment"):
                    found[node.name] = f"{module}.{node.name}", ""
                elif decorator.startswith("st.dialog"):
                    found[node.name] = f"{dialog_decorator.__name__}.{DIALOG}", node.name
    return found


def received(page) -> list[bytes]:
    """What the server sends to a page from now on; the page's sockets are kept for scripts."""
    frames: list[bytes] = []
    page.context.add_init_script(SOCKETS)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    return frames


def session_of(frames: list[bytes]) -> str:
    found = [ForwardMsg.FromString(frame).new_session.initialize.session_id for frame in frames]
    return next(filter(None, reversed(found)))


def walked(frames: list[bytes]) -> dict[str, str]:
    """The identifiers of fragments in what a server sent, and the functions behind them."""
    known, names = fragments(), {}
    for message in map(ForwardMsg.FromString, frames):
        path, one = list(message.metadata.delta_path), message.delta.fragment_id
        places = [path[:length] for length in range(1, len(path) + 1)] if one and one not in names else ()
        for name, (start, end) in known.items():
            if any(calc_hash(f"{start}{place}{end}") == one for place in places):
                names[one] = name
    return names


UPLOAD = """session => {
    const body = new FormData(), token = document.cookie.match(/_streamlit_xsrf=([^;]*)/)[1];
    body.append("file", new Blob(["x"]), "x.csv");
    const address = `/_stcore/upload_file/${session}/${crypto.randomUUID()}`;
    return fetch(address, {method: "PUT", body, headers: {"X-Xsrftoken": token}}).then(answer => answer.status);
}"""
RUN = "frames => frames.forEach(frame => window.sockets.at(-1).send(Uint8Array.from(frame)))"
SOCKETS = """window.sockets = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain { constructor(...how) { super(...how); window.sockets.push(this); } };"""


def test_after_a_log_out_no_fragment_is_drawn_no_file_taken_and_no_copy_of_the_cookie_counts(new_page, app, ledger):
    """Every fragment there is, found in the code, is on screen in one tab while another logs out."""
    if "coronahack-demo" not in [account.name for account in ledger.accounts()]:
        ledger.open_account("coronahack-demo", 5)
    page = new_page()
    frames = received(page)
    log_in(page, app, "carl")
    kept = page.context.cookies()
    ui.demo(page, app)
    for screen in ("Calibrate", "Explore", "Diagnose"):
        ui.go_to(page, screen)
    page.locator(ui.CARDS).first.wait_for()
    ui.look(page)
    page.get_by_role("dialog").wait_for()
    ui.settle(page)
    known = walked(frames)
    assert set(known.values()) == set(fragments()), "a new fragment is to be put on screen here, too"
    assert page.evaluate(UPLOAD, session_of(frames)) == 204
    tab = page.context.new_page()
    tab.goto(app.url)
    ui.button(tab, "Log out").press("Enter")
    tab.wait_for_url(re.compile("end_session"))
    frames.clear()
    asked = [BackMsg(rerun_script=ClientState(fragment_id=one)).SerializeToString() for one in known]
    page.evaluate(RUN, [list(one) for one in asked])
    ui.sees(page, "You are not logged in, or no longer")
    ui.settle(page)
    assert walked(frames) == {}
    assert page.locator("img.xray").count() == page.get_by_role("dialog").count() == 0
    assert page.evaluate(UPLOAD, session_of(frames)) == 403
    (cookie,) = [one for one in kept if one["name"] == "_streamlit_user"]
    for spelling in (cookie["value"], cookie["value"] + "=", cookie["value"] + "=="):
        copy = new_page()
        copy.context.add_cookies([*kept, cookie | {"value": spelling}])
        copy.goto(app.url)
        ui.sees(copy, "You are not logged in, or no longer")
