"""Features of fingerprints, and the resemblance of two texts."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import OTHER, TEXT

import simkeep
from simkeep import df


def words(start: int, end: int) -> str:
    return " ".join(f"word{n}" for n in range(start, end))


def test_a_fingerprint_is_explained_by_its_features() -> None:
    maker = simkeep.Fingerprinter()
    of = maker.explain("The fox and the fox, and the fox")
    assert of.fingerprint == maker.of_text("The fox and the fox, and the fox")
    first, second, third = of.heaviest
    # The features are pairs of words: "the fox" occurs three times, the others twice.
    assert (first.text, first.count, first.short) == ("the fox", 3, False)
    assert first.field is None and first.frequency is None
    assert {second.text, third.text} == {"fox and", "and the"} and second.count == third.count == 2
    assert (of.features, of.voting) == (3, 3) and sum(one.share for one in of.heaviest) == pytest.approx(1)
    assert len(of.balance) == 64 and all(-1 <= margin <= 1 for margin in of.balance)
    bits = enumerate(of.balance)
    assert all((margin > 0) == bool(of.fingerprint >> bit & 1) for bit, margin in bits if margin)
    assert maker.explain(TEXT, limit=2).heaviest == maker.explain(TEXT, limit=None).heaviest[:2]
    assert len(maker.explain(words(0, 99)).heaviest) == 20
    for value in (of, first):
        for again in (eval(repr(value), {"simkeep": simkeep}), pickle.loads(pickle.dumps(value))):
            assert again == value and hash(again) == hash(value)


def test_shingles_measure_common_runs_of_words() -> None:
    a, b = (simkeep.Shingles(f"a {word} is a rose is a rose", 4) for word in ("rose", "flower"))
    assert (len(a), len(b), a.common(b)) == (3, 5, 3)
    assert (a.resemblance(b), a.containment(b), b.containment(a)) == (0.6, 1, 0.6)
    assert a == simkeep.Shingles("A rose is a rose is a rose!", 4) != b
    # Both texts have 896 of the 1,096 runs of five words.
    left, right = simkeep.Shingles(words(0, 1000)), simkeep.Shingles(words(100, 1100))
    assert left.resemblance(right) == 896 / 1096 and len(left) == 996


def test_sketches_estimate_resemblance() -> None:
    left, right = (simkeep.BitSketch.of_text(words(start, start + 1000)) for start in (0, 100))
    assert abs(left.resemblance(right) - 0.82) < 0.08
    assert left.resemblance(right) == 1 - 2 * left.distance(right) / 512
    assert left.resemblance(left) == 1 and left.distance(left) == 0
    assert abs(left.resemblance(simkeep.BitSketch.of_text(OTHER))) < 0.3
    assert len(bytes(left)) == 64 and simkeep.BitSketch(bytes(left)) == left != right
    for again in (eval(repr(left)), pickle.loads(pickle.dumps(left)), copy.deepcopy(left)):
        assert again == left and hash(again) == hash(left)


def test_tables_are_compared(tmp_path: Path) -> None:
    def table(name: str, *texts: str) -> df.FrequencyTable:
        with df.FrequencyCounter(tmp_path / name, "words-idf") as counter:
            for text in texts:
                counter.add(text)
            return counter.freeze()

    one, other = table("one", TEXT, TEXT), table("other", TEXT, words(0, 20))
    same = df.compare(one, one)
    assert (same.common, same.first_only, same.second_only) == (one.terms, 0, 0)
    assert (same.known, same.difference) == (1, 0)
    of = df.compare(one, other)
    assert (of.common, of.first_only, of.second_only) == (one.terms, 0, other.terms - one.terms)
    # The common terms are in both documents of the first table, and in one of two of the other.
    assert of.known == 1 and of.difference == pytest.approx(0.405465, abs=1e-6)
    assert of.idf == pytest.approx(0.693147, abs=1e-6)
    back = df.compare(other, one)
    assert (back.common, back.first_only, back.second_only) == (of.common, of.second_only, of.first_only)
    assert back.known < 1
    again = eval(repr(of), {"simkeep": simkeep})
    assert again == of == pickle.loads(pickle.dumps(of)) and repr(of).startswith("simkeep.df.TableComparison(")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: simkeep.Fingerprinter().explain(7), TypeError, "text must be str"),  # type: ignore[arg-type]
        (lambda: simkeep.Fingerprinter().explain("a", limit=-1), ValueError, "limit must be"),
        (lambda: simkeep.Shingles(7), TypeError, "text must be str"),  # type: ignore[arg-type]
        (lambda: simkeep.Shingles("a", 0), ValueError, "words must be an int from 1 to 8, not 0"),
        (lambda: simkeep.Shingles("a", 9), ValueError, "words must be an int from 1 to 8, not 9"),
        (lambda: simkeep.BitSketch(bytes(63)), ValueError, "bytes must be 64 bytes, not 63"),
        (lambda: simkeep.BitSketch("a"), TypeError, "bytes must be 64 bytes, not str"),  # type: ignore[arg-type]
        (lambda: simkeep.BitSketch.of_text(b"a"), TypeError, "text must be str"),  # type: ignore[arg-type]
        (lambda: pickle.dumps(simkeep.Shingles("a")), TypeError, "a Shingles cannot be pickled"),
    ],
)
def test_invalid_arguments_are_rejected(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("text", "as_if"),
    [
        ("cut \ud83d", "cut \ufffd"),
        ("\udc80 turned \ude00\ud83d", "\ufffd turned \ufffd\ufffd"),
        ("two halves \ud83d\ude00", "two halves \U0001f600"),
    ],
)
def test_lone_surrogates_are_replaced(text: str, as_if: str, tmp_path: Path) -> None:
    text, as_if = f"{TEXT} {text}", f"{TEXT} {as_if}"
    maker = simkeep.Fingerprinter("strict")
    assert maker.of_text(text) == maker.of_text(as_if)
    assert maker.of_html(text) == maker.of_html(as_if)
    assert simkeep.visible_text(text) == as_if
    with simkeep.Store.create(tmp_path / "store") as store:
        assert store.observe("http://a/", 0, text=as_if).verdict == simkeep.Verdict.NEW
        assert store.observe("http://a/", 1000, text=text).verdict == simkeep.Verdict.SAME
