"""The Explore screen: every view, its figures' data, its cancel, and that private records stay out."""

import json

import pytest

from ppsets_core import plan, read_scores, smallest_n
from ppsets_core.method.rules import RULES
from tests.explore.third_rule import ThirdRule
from tests.pages.driving import button, finish, metrics, texts


@pytest.fixture
def explore(screen):
    """Open Explore at a view."""

    def open_view(view: str):
        at = screen("explore")
        if view in ("Levels", "Inside a release"):
            at.session_state["explore_detail"], view = view, "For statisticians"
        at.session_state["explore_view"] = view
        return at.run()

    return open_view


def figures(at) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def names(figure: dict) -> set[str]:
    return {trace["name"] for trace in figure["data"] if "name" in trace}


def test_sets_follow_the_sliders_of_what_if_and_calibrate_takes_them_over(explore):
    at = explore("What if")
    assert not at.error
    for over, axis in (("n", "calibration records n"), ("alpha", "allowed miss rate α"), ("epsilon", "privacy loss ε")):
        at.radio(key="explore_against").set_value(over).run()
        drawn = figures(at)
        assert [one["layout"]["xaxis"]["title"]["text"] for one in drawn] == [axis] * 2
        assert {"sharp rule", "paper's rule", "without privacy"} <= names(drawn[0])

    def bars():
        return "".join(one.proto.body for one in at.get("html") if 'class="chances"' in one.proto.body)

    before = bars()
    assert before.count('class="track"') == 18
    assert "Viral pneumonia" in before
    at.select_slider(key="explore_epsilon").set_value(0.1).run()
    smaller = bars()
    assert smaller != before
    at.select_slider(key="explore_n").set_value(50).run()
    assert "never" not in bars().replace('class="never"', ""), "too few records: every set holds every diagnosis"
    button(at, "Calibrate with these").click().run()
    assert at.session_state["epsilon"] == 0.1


def test_planner_answers_for_every_rule(explore):
    at = explore("Planner")
    assert not at.error
    found = metrics(at)
    for name, title in (("paper", "Paper's rule"), ("sharp", "Sharp rule")):
        assert found[title][0] == f"{smallest_n(0.1, 1.0, name):,}"
        assert len(found[title]) == 3
    exact, private = (float(sizes[-1].split(" · ")[0]) for sizes in (found["Without privacy"], found["Paper's rule"]))
    assert 0.9 < exact <= private < 3
    at.number_input(key="explore_planned_n").set_value(10).run()
    assert metrics(at)["Paper's rule"][1] == "none" or float(metrics(at)["Paper's rule"][1]) > 1


def test_the_map_is_there_at_once_and_another_is_coarse_first_and_kept_for_all(explore):
    at = explore("Trade-off map")
    (whole,) = figures(at)
    assert "map_job" not in at.session_state, "it is bundled"
    assert [trace["text"] for trace in whole["data"] if "text" in trace] == [["ε = 1"]]
    at.number_input(key="map_n").set_value(300).run()
    (coarse,) = figures(at)
    assert len(coarse["layout"]["xaxis"]["ticktext"]) < len(whole["layout"]["xaxis"]["ticktext"])
    at = finish(at, "map_job")
    (other,) = figures(at)
    assert other["layout"]["xaxis"]["ticktext"] == whole["layout"]["xaxis"]["ticktext"]
    at.radio(key="map_promise").set_value("each diagnosis").run()
    assert figures(at)[0]["data"] != other["data"]
    at.radio(key="map_promise").set_value("all patients together").run()
    assert figures(at)[0]["data"] == other["data"]
    at.number_input(key="map_n").set_value(400).run()
    at.session_state["map_job"].cancel()
    assert "Cancelled" in texts(finish(at, "map_job"))
    assert button(at, "Draw the whole map")
    assert not at.error


def test_scores_are_compared_by_diagnosis(explore):
    at = explore("By diagnosis")
    coverage, sizes = figures(at)
    assert names(sizes) == {"lac", "aps", "raps"}
    means = {trace["name"]: trace["x"] for trace in sizes["data"]}
    assert all(len(one) == 4 for one in means.values())
    assert means["lac"][0] < means["raps"][0] < means["aps"][0]
    at.radio(key="explore_score").set_value("raps").run()
    assert figures(at)[0]["data"] != coverage["data"]
    assert figures(at)[1]["data"] == sizes["data"]


def test_inside_a_release_draws_are_kept_until_the_settings_change(explore):
    at = explore("Inside a release")
    assert {"probability of ŝ", "without privacy"} == names(figures(at)[0])
    at.button(key="explore_draw").click().run()
    at.button(key="explore_draw_50").click().run()
    assert "Drawn 51 times (simulated, not released)" in texts(at)
    assert "earlier draws" in names(figures(at)[0])
    button(at, "Clear").click().run()
    assert "Drawn" not in texts(at)
    at.button(key="explore_draw").click().run()
    assert "Drawn once" in texts(at)
    at.select_slider(key="explore_m").set_value(100).run()
    assert "Drawn" not in texts(at)
    at.slider(key="explore_alpha").set_value(0.01)
    at.select_slider(key="explore_epsilon").set_value(0.01).run()
    assert "Too few records" in texts(at)


def say_public(at, name: str, data: bytes):
    at.segmented_control(key="explore_source").set_value("A public file").run()
    at.file_uploader[0].set_value((name, data, "text/csv")).run()
    return at.checkbox(key="explore_is_public").check().run()


def test_every_file_is_explored_only_if_it_is_said_to_be_public(explore, score_csv):
    at = explore("By diagnosis")
    at.segmented_control(key="explore_source").set_value("A public file").run()
    assert "Private records belong on Calibrate" in texts(at)
    say_public(at, "mine.csv", score_csv(300))
    assert "mine.csv: 300 records, used as public" in texts(at)
    assert len(figures(at)) == 2
    say_public(at, "many.csv", b"score\n" + b"0.25\n" * 20_001)
    assert "Of these, 20,000 drawn at random are looked at." in texts(at)
    at.file_uploader[0].set_value(("scores.csv", b"score\n0.1\n0.2\n", "text/csv")).run()
    assert not at.checkbox(key="explore_is_public").value
    assert "used as public" not in texts(at)
    at.checkbox(key="explore_is_public").check().run()
    assert "this file has scores only" in texts(at)
    say_public(at, "bad.csv", b"score\n7\n")
    assert "bad.csv" in at.error[0].value.replace("\\", "")
    assert at.tabs
    at.segmented_control(key="explore_source").set_value("Simulated").run()
    assert "no patient is behind these records" in texts(at)


def test_records_under_the_name_of_a_privacy_budget_are_refused_whatever_is_ticked(explore, ledger):
    file = ("score\n" + "".join(f"{number / 1000}\n" for number in range(1000))).encode()
    ledger.release(read_scores(file, "ward.csv"), plan(1000, 0.1, 1.0), ledger.open_account("ward", 3))
    at = explore("Inside a release")
    say_public(at, "Ward.csv", file)
    assert "The ledger keeps a privacy budget under this file's name" in texts(at)
    assert "used as public" not in texts(at)


def test_a_third_rule_that_is_only_registered_is_in_every_view(explore, monkeypatch):
    monkeypatch.setitem(RULES, ThirdRule.name, ThirdRule())
    at = explore("Planner")
    assert metrics(at)["Third rule"] == metrics(at)["Paper's rule"]
    assert "third rule" in names(figures(at)[0])
    at = explore("Levels")
    assert "third, ε = 0.1" in names(figures(at)[0])
    assert "Solid: the sharp rule. Dotted: the paper's rule." in texts(at)
    assert "Dash-dotted: the third rule." in texts(at)
    at = explore("Inside a release")
    at.segmented_control(key="explore_rule").set_value(ThirdRule.name).run()
    assert not at.error
