"""Epochs, recipes, fingerprints and tables of document frequencies."""

from pathlib import Path

import pytest
from conftest import AT, DAY, OTHER, TEXT, URL

import simkeep
from simkeep.df import FrequencyCounter, FrequencyTable, merge


def test_origin_name_combines_extractor_and_recipe() -> None:
    origin = simkeep.Origin("strict", extractor="mine/3")
    assert (origin.name, origin.recipe, origin.extractor) == (
        "mine/3 words3-sqrt/2",
        "words3-sqrt/2",
        "mine/3",
    )
    assert origin == simkeep.Origin("words3-sqrt/2", extractor="mine/3")
    assert simkeep.Origin().name == f"{simkeep.EXTRACTOR} {simkeep.RECIPE}" == "html/3 words2-sqrt/2"
    assert simkeep.Origin.is_name(origin.name) and not simkeep.Origin.is_name("mine/3")
    with pytest.raises(ValueError, match="recipe is not a recipe"):
        simkeep.Origin("words0")
    with pytest.raises(simkeep.InvalidArgumentError):
        simkeep.Origin(extractor="two words")


def test_an_epoch_begins_and_ends(store: simkeep.Store) -> None:
    old = store.change_epoch
    store.observe(URL, AT, text=TEXT)
    origin = simkeep.Origin("strict", extractor=simkeep.EXTRACTOR)
    new = store.begin_epoch(origin, role=simkeep.Role.BOTH, bands=(2, 8))
    assert store.change_epoch == store.near_epoch == new != old
    info = store.epochs()[-1]
    assert (info.epoch, info.name, info.role, info.ended) == (new, origin.name, "both", False)
    assert info.bands == simkeep.Bands(2, 8)
    assert store.origin(new) == origin
    assert store.meaning(9).band == "major" and store.meaning(9, epoch=old).band == "moderate"
    [stale] = store.stale(new)
    assert (stale.url, stale.time, stale.content.fingerprint) == (URL, AT, simkeep.fingerprint(TEXT))
    assert list(store.stale(new, after=URL)) == []
    with pytest.raises(simkeep.EpochError, match="still in use"):
        store.end_epoch(old)
    assert store.count_without_fingerprint(new) == 1
    fingerprint = simkeep.Fingerprinter("strict").of_page(TEXT)
    assert store.restate(stale.url, stale.time, fingerprint, new) == "stored"
    assert store.restate(URL, AT, fingerprint, new) == "known"
    assert store.restate(URL, AT + DAY, fingerprint, new) == "missing"
    store.end_epoch(old)
    assert store.epochs()[0].ended
    with pytest.raises(simkeep.EpochError, match="has ended"):
        store.observe(URL, AT + DAY, fingerprint=1, epoch=old)


def test_change_and_near_roles_can_be_separate_epochs(store: simkeep.Store) -> None:
    near = store.begin_epoch(simkeep.Origin("near", extractor=simkeep.EXTRACTOR), role="near")
    assert (store.change_epoch, store.near_epoch) == (0, near)
    store.observe(URL, AT, text=TEXT)
    out = store.observe("https://example.org/", AT, html=f"<p>{TEXT}")
    assert [near.distance for near in out.near] == [0]
    assert out.near[0].fingerprint == simkeep.Fingerprinter("near").of_page(TEXT)


def test_fingerprints_match_the_crate() -> None:
    # The same words as in the crate's documentation.
    a = simkeep.fingerprint("The quick brown fox jumps over the lazy dog, and runs away.")
    assert a == simkeep.fingerprint("the quick   brown fox jumps over the lazy dog and runs away")
    assert a is not None
    assert simkeep.fingerprint("") is None and simkeep.fingerprint("Not found") is None
    assert simkeep.distance(a, a ^ 0b101) == 2
    maker = simkeep.Fingerprinter()
    assert maker.recipe == simkeep.RECIPE
    assert maker.of_text(TEXT) == maker.of_page(TEXT) == simkeep.fingerprint(TEXT)
    assert maker.of_html(f"<title>{TEXT}</title>".encode("utf-16"), "latin1") == maker.of_text(TEXT)
    assert maker.of_page("Not found") is None
    assert simkeep.visible_text("<p>Fish &amp; <b>chips</b><script>x</script>") == "Fish & chips"
    assert simkeep.visible_text(b"caf\xe9", "latin1") == "café"
    # A header as received, or several joined by commas; a page is HTML whatever they declare.
    for said in ("text/html; charset=latin1", "image/png, text/html;charset='x', text/html;charset=\"latin1\""):
        assert simkeep.visible_text(b"caf\xe9", said) == "café"
    assert simkeep.visible_text(b"<meta charset=koi8-r>\xc1", "application/octet-stream") == "\u0430"
    assert simkeep.decode(b"<meta charset=koi8-r>\xc1").endswith("\u0430")
    assert simkeep.decode(b"<meta charset=gbk>\xc3\xa9", "text/plain") == "<meta charset=gbk>é"
    assert simkeep.fingerprint(OTHER, recipe="near") == simkeep.Fingerprinter("near").of_text(OTHER)
    with pytest.raises(simkeep.InvalidArgumentError, match="needs a table"):
        simkeep.Fingerprinter("words-idf")


def test_recipes_have_short_names() -> None:
    presets = {preset.name: preset for preset in simkeep.recipes()}
    assert presets["default"].recipe == simkeep.RECIPE and presets["default"].near == 3
    assert presets["near"].bands == simkeep.Bands(1, 8)
    for preset in simkeep.recipes():
        assert simkeep.Origin(preset.name).recipe == preset.recipe and preset.description


def test_words_are_weighted_by_a_table(store: simkeep.Store, tmp_path: Path) -> None:
    file = tmp_path / "crawl.df"
    with FrequencyCounter(file, "words-idf", memory_bytes=1 << 20) as counter:
        for text in (TEXT, OTHER, TEXT):
            counter.add(text)
        table = counter.freeze()
        with pytest.raises(simkeep.InvalidArgumentError):
            counter.add(TEXT)
    assert table.documents == 3 and table.terms > 20 and table.bytes == file.stat().st_size
    assert FrequencyTable(file).id == table.id and table.left_out == (1, 0)
    origin = simkeep.Origin("words-idf", extractor=simkeep.EXTRACTOR, table=table)
    assert origin.name.endswith(f"df:{table.id:016x}")
    epoch = store.begin_epoch(origin)
    store.observe(URL, AT, text=TEXT)
    page = store.latest(URL)
    assert page is not None and page.content is not None and page.content.epoch == epoch
    maker = simkeep.Fingerprinter("words-idf", table=FrequencyTable(file))
    assert page.content.fingerprint == maker.of_page(TEXT)
    assert store.origin(epoch) == origin
    with pytest.raises(simkeep.InvalidArgumentError, match="the same table"):
        merge([file, file], tmp_path / "sum.df")
    with FrequencyCounter(tmp_path / "other.df", "words-idf") as counter:
        counter.add("one more text of a few words")
        counter.freeze()
    assert merge([file, tmp_path / "other.df"], tmp_path / "sum.df").documents == 4
    with pytest.raises(simkeep.NotATableError):
        FrequencyTable(__file__)


def test_abandoned_counter_leaves_no_file(tmp_path: Path) -> None:
    with FrequencyCounter(tmp_path / "crawl.df") as counter:
        counter.add(TEXT)
    assert list(tmp_path.iterdir()) == []


def test_fingerprints_of_another_recipe_are_rejected(tmp_path: Path) -> None:
    texts = [TEXT, OTHER, "too short"]
    other = simkeep.fingerprint_batch(texts)
    assert other.recipe == simkeep.RECIPE and repr(other) == f"<simkeep.Fingerprints of 3 by {simkeep.RECIPE}>"
    with FrequencyCounter(tmp_path / "words.df", "words-idf") as counter:
        for text in texts:
            counter.add(text)
        table = counter.freeze()
    for origin in (simkeep.Origin("near"), simkeep.Origin("words-idf", table=table, extractor="mine/1")):
        rows = [simkeep.Observation(URL, AT, text=TEXT)]
        store, _ = simkeep.Store.create_from(tmp_path / origin.recipe.replace("/", "-"), rows, origin=origin)
        with store:
            message = rf"the recipe {simkeep.RECIPE}, but epoch 0 of the store is .*{origin.recipe}.*store\.origin\(0\)"
            with pytest.raises(simkeep.EpochError, match=message):
                store.near_batch(other, k=3)
            with pytest.raises(simkeep.EpochError, match=message):
                store.pairs_with(other, 3)
            with pytest.raises(simkeep.EpochError, match=message):
                store.snapshot().near_batch(other, k=3, epoch=0)
            prints = simkeep.fingerprint_batch(texts, recipe=origin)
            assert [len(found) for found in store.near_batch(prints, k=3)] == [1, 0, 0]
            assert list(store.pairs_with(prints, 0)) == []
            assert simkeep.Fingerprinter(store.origin(0)).of_page(TEXT) == prints[0]
            # Without their recipe, fingerprints are compared as they are.
            assert [len(found) for found in store.near_batch(list(other), k=0)] == [0, 0, 0]
            mine = store.register_epoch("mine/2", role="near")
            store.observe(URL, AT + DAY, fingerprint=other[0], epoch=mine)
            assert [len(found) for found in store.near_batch(other, k=3)] == [1, 0, 0]
    with pytest.raises(TypeError, match="an Origin has its own table"):
        simkeep.Fingerprinter(simkeep.Origin(), table=table)
    with pytest.raises(TypeError, match="recipe must be an Origin or the name of a recipe, not int"):
        simkeep.fingerprint_batch(texts, recipe=7)  # type: ignore[arg-type]
