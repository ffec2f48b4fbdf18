"""Each folder of the Rust sources uses only those before it, in the order of lib.rs."""
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "src"


def test_folders_use_only_earlier_folders() -> None:
    declared = (SOURCES / "lib.rs").read_text(encoding="utf-8")
    folders = [*re.findall(r"^mod ([a-z]\w*) \{$", declared, re.MULTILINE), "store"]
    assert set(folders) == {path.name for path in SOURCES.iterdir() if path.is_dir()}
    for number, folder in enumerate(folders):
        later = "|".join(folders[number + 1 :]) or "nothing"
        for path in (SOURCES / folder).glob("*.rs"):
            found = re.findall(rf"crate::(?:{later})\b", path.read_text(encoding="utf-8"))
            assert not found, f"{path.name} of {folder} uses {found}"
