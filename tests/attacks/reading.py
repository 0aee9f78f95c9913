"""What a screen says of the files it was given."""

from streamlit.testing.v1 import AppTest


def left_out(at: AppTest) -> dict[str, str]:
    """The screen's list of files that were left out, each with its reason."""
    for table in at.dataframe:
        if list(table.value.columns) == ["file", "reason"]:
            return dict(zip(table.value["file"], table.value["reason"], strict=True))
    return {}


def answered(at: AppTest) -> list[str]:
    """The names of the files that were classified."""
    at.segmented_control(key="diagnose_view").set_value("Table").run()
    for table in at.dataframe:
        if "reading" in table.value.columns:
            return list(table.value["file"])
    return []
