"""Ledger: what every data set may spend, has spent and was spent on; exports; and raising a budget, on record."""

from decimal import Decimal

import streamlit as st

from pages.widgets.budgets import open_account_step, raise_budget_step
from pages.widgets.person import first_budget, may, may_open
from pages.widgets.session import active_calibration, open_ledger, set_active_calibration, warn_of_other_model
from pages.widgets.shelf import publish_step, release_title
from pages.widgets.streamlit_parts import run_through_app
from pages.widgets.text import columns_with_values, offer_download
from ppsets_core import Calibration, Ledger
from ppsets_core.access import STEWARD
from ppsets_core.explore.figures import budget_figure, spending
from ppsets_core.ledger import BudgetChange, Refusal, Release
from ppsets_core.ledger.amounts import shown
from ppsets_core.ledger.charging import MOST_REFUSALS
from ppsets_core.ledger.export import covered_in_words, export_csv, export_json
from ppsets_core.wording import names_of

ALL = "All data sets"
IN_EXPORT = ("rule", "m", "protects one", "model")  # and in the words of a release to use again
WIDTHS = {"data set": 130, "ŝ": 85, "covered": 85, "who": 85, "why": 90}  # pixels; a cell opens when it is clicked


def main() -> None:
    st.title("Ledger")
    ledger = open_ledger()
    open_account_step(ledger)
    accounts = ledger.accounts()
    if not accounts:
        st.info(f"The ledger is empty. {first_budget()}")
        if may_open("calibrate"):
            st.page_link("pages/calibrate.py", label="Open Calibrate", icon=":material/arrow_forward:")
        return
    drawn = ledger.releases()
    spent = shown(sum((one.epsilon for one in drawn), Decimal(0)))
    st.markdown(
        f"**Released so far: {len(drawn):,}, at ε = {spent} in all.** A release is a few noisy numbers or a network's "
        "last layer: no X-ray, no record, no name."
    )
    st.header("Budget left", anchor=False)
    told = ", ".join(f"{account.name}: {shown(account.left)} of {shown(account.budget)}" for account in accounts[:20])
    st.plotly_chart(budget_figure(accounts), key="budgets", alt=f"ε left of each budget. {told}")
    st.caption(
        "For a patient who was in every release under the name. A release that would cost someone more than the budget "
        "is refused before anything is drawn."
    )
    _spending(ledger)
    with st.expander("What has one patient lost?"):
        st.write("The bound that holds for everyone, from public numbers alone. It may be told to anyone.")
        name = st.selectbox("Released under", [account.name for account in accounts], key="lost_under")
        st.code(ledger.loss_in_words(name), language=None, wrap_lines=True)
    if may(STEWARD):
        raise_budget_step(ledger, accounts)
    _releases(ledger)
    with st.expander("Budgets as they were set and raised"):
        rows = [_entry(one, {"budget": shown(one.budget)}) for one in reversed(ledger.snapshot().budget_changes)]
        st.dataframe(rows, hide_index=True, alt="Every budget as it was set or raised, newest first")
    _refusals(ledger)


def _spending(ledger: Ledger) -> None:
    st.header("Spending over time", anchor=False)
    changes = ledger.snapshot().budget_changes
    names = list(dict.fromkeys(change.account for change in changes))
    chosen = ALL
    if len(names) > 1:
        chosen = st.selectbox("Data set", [ALL, *names], key="spending_of")
    kept = [change for change in changes if chosen in (ALL, change.account)]
    releases = ledger.releases(None if chosen == ALL else chosen)
    st.plotly_chart(spending(releases, kept), key="spending", alt="ε spent by each data set over time, and its budget")
    st.caption("Solid: ε spent. Dashed, in the same colour: the data set's budget.")


def _releases(ledger: Ledger) -> None:
    st.header("Releases", anchor=False)
    releases = ledger.releases()
    if not releases:
        st.write("None yet.")
        return
    newest_first = releases[::-1]
    rows = [_row(release) for release in newest_first]
    st.dataframe(
        rows,
        hide_index=True,
        column_order=columns_with_values(rows, besides=IN_EXPORT),
        column_config={name: st.column_config.Column(width=width) for name, width in WIDTHS.items()},
        alt="All releases, newest first",
    )
    with st.container(horizontal=True):
        offer_download("Export releases (CSV)", export_csv(ledger), "releases.csv", key="export_csv")
        offer_download("Export everything (JSON)", export_json(ledger), "ledger.json", key="export_json")
    _use_again([release for release in newest_first if release.calibration is not None])


def _use_again(releases: list[Release]) -> None:
    """A release is public: reusing or saving it is free."""
    if not releases:
        return
    release = st.selectbox("Reuse a release (free)", releases, format_func=_title, key="use_again")
    if (calibration := release.calibration) is None:
        return
    warn_of_other_model(calibration)
    with st.container(horizontal=True):
        if st.button("Use this calibration", key="use_release"):
            set_active_calibration(calibration, release.account)
            st.rerun()
        name = f"calibration-{release.id}.json"
        offer_download("Download it (JSON)", calibration.to_json(), name, key="download_release")
        publish_step(release)
    if active_calibration() == calibration:
        st.success("In use in this browser session.")


def _refusals(ledger: Ledger) -> None:
    if not (refusals := ledger.snapshot().refusals):
        return
    with st.expander("Releases that were refused"):
        st.caption(
            "Someone in their records had no room. This reveals something about people who were charged before, so it "
            "is not private: it is for the owners of the records and in no export. "
            f"After {MOST_REFUSALS} refusals the data set answers no more until its budget is raised."
        )
        rows = [_entry(one, {"kind": one.kind, "ε": shown(one.epsilon)}) for one in reversed(refusals)]
        st.dataframe(rows, hide_index=True, alt="Every release that was refused, newest first")


def _entry(one: BudgetChange | Refusal, columns: dict[str, str]) -> dict[str, str]:
    return {"time (UTC)": one.time[:19].replace("T", " "), "data set": one.account, **columns, **_who_and_why(one)}


def _who_and_why(entry: Release | BudgetChange | Refusal) -> dict[str, str]:
    return {"who": entry.actor.subject if entry.actor else "", "why": entry.reason or ""}


def _row(release: Release) -> dict:
    calibration, check = release.calibration, release.check
    either = calibration or check
    return {
        "no.": release.id,
        "kind": release.kind,
        "ε": shown(release.epsilon),
        "δ": shown(release.delta) if release.delta else "",
        "ŝ": _thresholds(calibration) if calibration else None,
        "data set": release.account,
        "time (UTC)": release.time[:19].replace("T", " "),
        "rule": calibration.method if calibration else "",
        "α": either.alpha if either else None,
        "n": either.n if either else None,
        "m": calibration.m if calibration else None,
        "covered": covered_in_words(check) if check else None,
        "protects one": either.unit if either else "",
        "model": either.model or "unknown" if either else release.trained or "",
        "status": release.status,
        **_who_and_why(release),
    }


def _thresholds(calibration: Calibration) -> str:
    if calibration.per is None:
        return f"{calibration.threshold:.6g}"
    named = zip(names_of(calibration), calibration.thresholds, strict=True)
    return "; ".join(f"{name}: {threshold:.6g}" for name, threshold in named)


def _title(release: Release) -> str:
    assert release.calibration is not None
    return release_title(release.id, release.account, release.calibration)


if run_through_app():
    main()
