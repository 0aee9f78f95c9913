"""What read_folder makes of labels: a labels file, CoronaHack's metadata, the names of folders."""

import pytest

from ppsets_core.errors import FileError
from ppsets_core.model.folder_records import SPLIT
from ppsets_core.xrays import Picture, read_folder
from ppsets_core.xrays.labels import coronahack_patient
from tests.coronahack import CORONAHACK, needs_coronahack, split_rows
from tools.coronahack import read_coronahack

from .samples import film, folder_of, png, upload, zipped

PICTURE = png(film())


def _labels(folder):
    return {xray.name: xray.label for xray in folder.xrays}


def _reasons(folder):
    return {refused.name: refused.reason for refused in folder.refused}


def test_labels_file_gives_labels_and_patients():
    rows = "File,Label,Patient_ID\na.png,normal,p1\nb.png,viral,\n"
    folder = folder_of({"a.png": PICTURE, "sub/b.png": PICTURE, "labels.csv": rows})
    assert [(x.name, x.label, x.patient) for x in folder.xrays] == [
        ("a.png", "normal", "p1"),
        ("sub/b.png", "viral", ""),
    ]
    assert folder.classes == ("normal", "viral")
    assert folder.notes == ("Labels come from labels.csv.",)


@pytest.mark.parametrize("head", ["file,label,patient_id,subject_id", "file,label,Labels,x"])
def test_two_columns_that_mean_the_same_are_refused(head):
    with pytest.raises(FileError, match=r"several columns for the (patient|label)"):
        folder_of("a", f"{head}\na.png,normal,1,2\n")


def test_a_row_with_a_cell_too_many_is_left_out_and_empty_ones_do_not_matter():
    rows = "file,label,patient\na.png,normal,Smith, John\nb.png,viral,Doe,,\n"
    folder = folder_of("ab", rows)
    assert [(xray.name, xray.patient) for xray in folder.xrays] == [("b.png", "Doe")]
    assert "Line 2 of the labels file has more cells than columns" in _reasons(folder)["a.png"]


@pytest.mark.parametrize(
    "text",
    [
        "file;label\na.png;normal\nb.png;viral\n",
        "file\tlabel\na.png\tnormal\nb.png\tviral\n",
        "\ufefffile,label\r\na.png,normal\r\nb.png,viral\r\n",
        "File , LABEL\na.png, normal \n./b.png,viral\n,\n",
        'other,"file","label"\n1,"a.png","normal"\n2,"B.PNG","viral"\n',
        "file,label\nsomewhere\\a.png,normal\nelse/where/b.png,viral\n",
    ],
    ids=["semicolons", "tabs", "byte order mark", "spaces and case", "quotes", "folders lost in upload"],
)
def test_labels_files_as_spreadsheets_write_them(text):
    uploads = [upload("a.png", PICTURE), upload("b.png", PICTURE)]
    folder = read_folder(uploads, labels=upload("labels.csv", text.encode()))
    assert _labels(folder) == {"a.png": "normal", "b.png": "viral"}
    assert folder.refused == ()


def test_one_split_passes_over_the_others():
    text = "file,label,split\na.png,normal,train\nb.png,viral,train\nc.png,normal,test\ngone.png,viral,test\n"
    folder = folder_of("abcd", text, split="test")
    assert _labels(folder) == {"c.png": "normal"}
    assert set(_reasons(folder)) == {"gone.png", "d.png"}
    for labels, said in (
        (text, "its splits: test, train"),
        ("file,label\na.png,normal\n", "needs the columns"),
        (None, "Without a labels file"),
    ):
        with pytest.raises(FileError, match=said):
            folder_of("abcd", labels, split="other")


def test_without_a_split_training_rows_are_for_learning_and_the_others_for_all_else():
    text = "file,label,split\na.png,normal,Train\nb.png,viral,calibration\nc.png,normal,\ngone.png,viral,train\n"
    folder, learning = folder_of("abc", text), folder_of("abc", text, to_learn=True)
    assert _labels(folder) == {"b.png": "viral", "c.png": "normal"}
    assert set(_reasons(folder)) == {"a.png"}
    assert "of the part 'Train': the model has learnt from them" in _reasons(folder)["a.png"]
    assert _labels(learning) == {"a.png": "normal", "c.png": "normal"}
    assert "of the part 'calibration'" in _reasons(learning)["b.png"]
    assert "no such file" in _reasons(learning)["gone.png"]
    with pytest.raises(FileError, match="part 'Train' cannot be used: the model has learnt from them"):
        folder_of("abc", text, split="Train")
    assert _labels(folder_of("abc", text, split="Train", to_learn=True)) == {"a.png": "normal"}
    diagnosed = folder_of("abc", text, keep_unlabelled=True)
    assert _labels(diagnosed) == {"a.png": None, "b.png": "viral", "c.png": "normal"}


def test_a_labels_file_may_leave_suffixes_out():
    text = "file,label\n1-s2.0-fig,viral\nsub/b,normal\nc,normal\nd.png,normal\n"
    files = {"1-s2.0-fig.jpeg": PICTURE, "sub/b.PNG": PICTURE, "c.png": PICTURE, "d.jpg": PICTURE}
    folder = folder_of(files, text)
    assert _labels(folder) == {"1-s2.0-fig.jpeg": "viral", "c.png": "normal", "sub/b.PNG": "normal"}
    assert "no such file" in _reasons(folder)["d.png"]
    assert "does not list it" in _reasons(folder)["d.jpg"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"name,class\na.png,normal\n", "columns file and label"),
        (b"", "columns file and label"),
        ("file,label\na.png,größe\n".encode("latin-1"), "UTF-8"),
        ("file,label\na.png,normal\n".encode("utf-16"), "UTF-8"),
        (b'file,label\n"' + b"x" * 200_000, "CSV"),
        (b'file,label\na.png,"normal\nb.png,viral\n', "beyond its line, up to line 3"),
        (PICTURE, "UTF-8"),
    ],
)
def test_a_labels_file_that_is_none_is_an_error_if_given_and_reported_if_found(data, said):
    with pytest.raises(FileError, match=f"^labels.csv: .*{said}"):
        folder_of("a", data)
    files = {"normal/a.png": PICTURE, "labels.csv": data}
    if data.startswith(b"file,label"):  # a bad row must not make the names of folders the labels of all
        with pytest.raises(FileError, match=f"^labels.csv: .*{said}"):
            folder_of(files)
    else:
        folder = folder_of(files)
        assert _labels(folder) == {"normal/a.png": "normal"}
        assert said in _reasons(folder)["labels.csv"]


def test_labels_without_files_and_files_without_labels_are_named_and_the_rest_goes_on():
    text = "file,label\na.png,normal\ngone.png,viral\nblank.png,\nempty.png,viral\n"
    folder = folder_of({"a.png": PICTURE, "unlisted.png": PICTURE, "blank.png": PICTURE, "empty.png": b""}, text)
    assert _labels(folder) == {"a.png": "normal"}
    reasons = _reasons(folder)
    assert len(folder.refused) == 4
    assert "no such file" in reasons["gone.png"]
    assert "does not list it" in reasons["unlisted.png"]
    assert "Line 4" in reasons["blank.png"]
    assert "empty" in reasons["empty.png"]


def test_a_row_with_a_folder_never_labels_a_namesake_elsewhere(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.png").write_bytes(PICTURE)
    for folder, labels in ((tmp_path, {"sub/a.png": "x"}), (tmp_path / "sub", {"a.png": "x"})):
        rows = f"file,label\n{tmp_path / 'sub' / 'a.png'},x\nother/a.png,y\n"
        assert _labels(read_folder(folder, labels=upload("l.csv", rows.encode()))) == labels
    folder = folder_of({"c/1.png": PICTURE, "2.png": PICTURE, "l.csv": "file,label\na/1.png,x\n2.png,y\n"})
    assert _labels(folder) == {"2.png": "y"}


def test_two_labels_files_and_one_that_is_not_there_are_errors_that_name_them(tmp_path):
    with pytest.raises(FileError, match=r"^gone\.csv: There is no such file"):
        read_folder(upload("a.png", PICTURE), labels=tmp_path / "gone.csv")
    with pytest.raises(FileError, match=r"a\.csv, b\.csv"):
        folder_of({"x.png": PICTURE, "a.csv": "file,label\nx.png,n\n", "b.csv": "file,label\nx.png,v\n"})


METADATA = """,X_ray_image_name,Label,Dataset_type,Label_2_Virus_category,Label_1_Virus_category
0,IM-0128-0001.jpeg,Normal,TRAIN,,
1,person101_virus_188.jpeg,Pnemonia,TRAIN,,Virus
2,person100_bacteria_475.jpeg,Pnemonia,TEST,,bacteria
3,covid-day5.png,Pnemonia,TEST,COVID-19,Virus
4,ards.jpg,Pnemonia,TRAIN,ARDS,Stress-Smoking
5,gone.jpeg,Normal,TRAIN,,
6,same.jpeg,Normal,TRAIN,,
7,same.jpeg,Pnemonia,TEST,,Virus
"""


def test_coronahacks_own_folder_and_metadata():
    top = "Coronahack-Chest-XRay-Dataset/Coronahack-Chest-XRay-Dataset"
    names = ["train/IM-0128-0001.jpeg", "train/person101_virus_188.jpeg", "test/person100_bacteria_475.jpeg"]
    names += ["test/covid-day5.png", "train/ards.jpg", "train/same.jpeg", "test/same.jpeg"]
    summary = "Label,Label_1_Virus_category,Label_2_Virus_category,Image_Count\nNormal,,,1\n"
    tables = {"Chest_xray_Corona_Metadata.csv": METADATA, "Chest_xray_Corona_dataset_Summary.csv": summary}
    folder = folder_of({f"{top}/{name}": PICTURE for name in names} | tables)
    assert {(x.name.removeprefix(f"{top}/"), x.label, x.patient) for x in folder.xrays} == {
        ("train/IM-0128-0001.jpeg", "normal", "IM-0128"),
        ("train/person101_virus_188.jpeg", "viral-pneumonia", "person101"),
        ("test/person100_bacteria_475.jpeg", "bacterial-pneumonia", "person100"),
        ("test/covid-day5.png", "viral-pneumonia", "covid"),
        ("train/same.jpeg", "normal", "same"),
        ("test/same.jpeg", "viral-pneumonia", "same"),
    }
    reasons = _reasons(folder)
    assert "Stress-Smoking" in reasons[f"{top}/train/ards.jpg"]
    assert "no such file" in reasons["gone.jpeg"]
    assert "Not a labels file" in reasons["Chest_xray_Corona_dataset_Summary.csv"]
    assert len(reasons) == 3


@pytest.mark.parametrize(
    ("name", "label", "label_of_named_classes"),
    [
        ("n/a.png", "n", "n"),
        ("top/test/v/b.png", "v", "v"),
        ("n/images/a.png", "n", "n"),
        ("top/a.png", "top", "top"),
        ("n/patient1/a.png", "patient1", "n"),
        ("site/N/2020/images/a.png", "2020", "n"),
        ("n/v/a.png", "v", "v"),
        ("v/n.png", "v", "v"),
        ("train/a.png", None, None),
        ("images/a.png", None, None),
        ("a.png", None, None),
    ],
)
def test_the_nearest_folder_that_names_a_class_or_can_name_one_is_the_label(name, label, label_of_named_classes):
    folder = folder_of({name: PICTURE})
    assert _labels(folder) == {name: label}
    assert any("one class alone" in note for note in folder.notes) == (label is not None)
    assert ("Labels are the names of the folders." in folder.notes) == (label is not None)
    assert _labels(folder_of({name: PICTURE}, classes=("n", "v"))) == {name: label_of_named_classes}
    assert _labels(folder_of({name: PICTURE}, f"file,label\n{name},N\n", classes=("n", "v"))) == {name: "n"}


def test_a_picture_beside_the_class_folders_has_no_label_and_the_others_keep_theirs():
    source = upload("x.zip", zipped({"n/a.png": PICTURE, "v/b.png": PICTURE, "c.png": PICTURE}))
    assert _labels(read_folder(source)) == {"c.png": None, "n/a.png": "n", "v/b.png": "v"}
    assert {xray.label for xray in read_folder(source, labels=False).xrays} == {None}


SIZES = {"train": 4405, "calibration": 1000, "validation": 500}


@pytest.mark.parametrize("split", SIZES)
def test_patients_from_file_names_are_those_of_the_split(split):
    assert len(split_rows(split)) == SIZES[split]
    assert all(coronahack_patient(f"{row['file']}.jpeg") == row["patient"] for row in split_rows(split))


@needs_coronahack
def test_the_three_splits_are_all_there():
    assert {split: len(read_coronahack(CORONAHACK, split).xrays) for split in SIZES} == SIZES
    folder = read_folder(CORONAHACK, labels=SPLIT)
    assert folder.classes == ("bacterial-pneumonia", "normal", "viral-pneumonia")
    stream = folder.pictures(at_least=64)
    assert all(isinstance(next(stream), Picture) for _ in range(50))
    stream.close()
