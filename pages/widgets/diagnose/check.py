"""Whether the promise held on patients whose diagnosis is known: the curator's own view, and a private release."""

import math

import streamlit as st

from pages.widgets.person import may
from pages.widgets.session import open_ledger
from pages.widgets.spend import Spending, Terms, choose_account, has_room, spend_step, spent_on
from pages.widgets.text import as_text, offer_download
from ppsets_core import Records, one_per_patient
from ppsets_core.access import CURATOR
from ppsets_core.diagnose.set_table import SetTable
from ppsets_core.ledger.charging import note_on_everyone
from ppsets_core.method.calibration import BaseCalibration
from ppsets_core.method.check import FAILS, FULL, HOLDS, OWN_VIEW, UNCLEAR, Check, Line, Promise
from ppsets_core.method.plan import DIAGNOSIS
from ppsets_core.method.private_check import PrivateCheck

USUAL_BUDGET, USUAL_EPSILON = 2.0, 0.5
TOGETHER, EACH = "All patients together", "Each diagnosis (twice the noise)"
CHECK = "check"


def show_check(sets: SetTable, of: str, name: str) -> None:
    """Verdict, numbers, and the offer of a private release, where true diagnoses came along.

    of: identifies these patients. name: proposed for their account.
    """
    if sets.not_checked:
        st.caption(as_text(sets.not_checked))
    if sets.check is None:
        return
    found = sets.check.overall
    words = f"Coverage check: {found.covered:,} of {found.records:,} sets hold the true diagnosis, {sets.check.verdict}"
    with st.expander(words, key="check"):
        show_numbers(sets.shown().check or sets.check)
        if flagged := int((sets.flagged & (sets.labels >= 0)).sum()):
            st.caption(f"Flagged X-rays are counted here, too: {flagged:,}.")
        if may(CURATOR):
            with st.expander("Private check: counts that may be shown to others"):
                _private(sets.records.labelled(), sets.calibration, of, name)


def show_numbers(check: Check) -> None:
    """The verdict, and what was covered."""
    st.markdown(f"**Did the promise hold?** {check.overall.records:,} patients checked")
    show = {HOLDS: st.success, UNCLEAR: st.info, FAILS: st.error}[check.verdict]
    show(as_text(check.words))
    single = check.single
    st.write(f"Of {single.records:,} sets with one diagnosis, {single.covered:,} were right.")
    tables = {
        "diagnosis": (check.overall, *check.by_group, *check.by_diagnosis),
        "diagnoses in the set": [line for line in check.by_size if line.records],
    }
    for column, (what, lines) in zip(st.columns([3, 2]), tables.items(), strict=True):
        rows = [_row(what, line) for line in lines]
        column.dataframe(rows, hide_index=True, alt=f"Coverage by {what}, with exact 95% intervals")
    st.caption(f":material/visibility_lock: {OWN_VIEW}")


def _row(what: str, line: Line) -> dict[str, object]:
    low, high = (f"{100 * limit:.1f}%" for limit in line.interval)
    return {
        what: line.name,
        "share": "" if math.isnan(line.coverage) else f"{100 * line.coverage:.1f}%",
        "95% interval": f"{low} to {high}" if line.records else "",
        "covered": f"{line.covered:,} of {line.records:,}",
        **({"verdict": line.verdict} if what == "diagnosis" else {}),
    }


def _private(records: Records, calibration: BaseCalibration, batch: str, name: str) -> None:
    st.write(
        "Releases how many were covered, with noise that hides each patient, and charges its ε to the budget of these "
        "patients. The interval counts the noise."
    )
    ledger, of = open_ledger(), (batch, calibration)
    if (done := spent_on(CHECK, of)) is not None:
        _show_private(done.result, calibration)
    used = one_per_patient(records)
    left, right = st.columns(2)
    per = DIAGNOSIS if left.radio("Count", [TOGETHER, EACH], key="check_per") == EACH else None
    epsilon = right.number_input("ε of the check", 0.01, 100.0, USUAL_EPSILON, 0.1, key="check_epsilon")
    account = choose_account(ledger, name, USUAL_BUDGET, key=f"check-{batch}")
    if account is None or not has_room(account, epsilon):
        return

    def release(spending: Spending) -> PrivateCheck:
        return ledger.check(used, calibration, account, epsilon, per=per, **spending.asked)

    spend_step(
        Terms(CHECK, of, (per, epsilon), account, f"ε = {epsilon:g}"),
        release,
        opens="Release a private check …",
        verb="release",
        words=f"ε protects one {used.unit}. If someone lacks room, nothing is released. It cannot be taken back.",
        warnings=(note_on_everyone(used, account.name),),
        is_first=False,
    )


def _show_private(check: PrivateCheck, calibration: BaseCalibration) -> None:
    names = ["all together"] if check.per is None else list(check.classes)
    verdicts = Promise(calibration).judge_private(check)
    rows = [
        {
            "who": name,
            "covered, about": "" if math.isnan(share) else f"{100 * share:.1f}%",
            "95% interval, noise counted": f"{100 * low:.1f}% to {100 * high:.1f}%",
            "verdict": verdict,
        }
        for name, share, (low, high), verdict in zip(names, check.shares(), check.intervals(), verdicts, strict=True)
    ]
    st.success(f"Released for ε = {check.epsilon:g}: this may be shown to anyone.")
    if calibration.is_full:
        st.warning(FULL, icon=":material/block:")
    st.dataframe(rows, hide_index=True, alt="The private check's shares with their intervals")
    offer_download("Download the private check (JSON)", check.to_json(), "private-check.json", key="check_json")
