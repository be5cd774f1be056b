"""Pages in a headless Chromium: the players, the tables, and the width of the page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asr.alignment.recording_labels import Label
from asr.corpus.data_directory import read_data_directory
from asr.report.clip import Tier, make_clips
from asr.report.page import Excerpt, PlainTable, Section, write_report
from tests.report.browser import PROGRAM, Browser, open_browser

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium")

NASTY = "<script>alert(1)</script>\"'&amp;" + "x" * 80


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def page(toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with three players, and a table of 20 rows."""
    utterances = {one.id: one for one in read_data_directory(toy_corpus / "test").utterances}
    names = list(utterances)[:3]
    labels = [Label(0.1, 0.3, "ONE", 0.2), Label(0.3, 0.6, NASTY)]
    tiers = [Tier("words", labels), Tier("phones", [Label(0.1, 0.2, "W")], of_words=False)]
    clips, issues = make_clips(names, utterances, dict.fromkeys(names, tiers))
    assert len(clips) == 3 and not issues
    excerpts = [Excerpt(name, "speaker s", NASTY, [("", [("ONE", NASTY)])]) for name in names]
    rows = [
        [NASTY if number == 7 else f"u{number}", number, None if number == 3 else -number / 7] for number in range(20)
    ]
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(
        path,
        title=NASTY,
        sections=[Section(NASTY, NASTY, excerpts)],
        clips=clips,
        tables=[PlainTable(NASTY, NASTY, ["Utterance", "Count", NASTY], rows)],
    )
    return path


def test_player_follows_the_sound_and_plays_a_word(browser: Browser, page: Path) -> None:
    browser.open(page)
    durations, moved, stopped, width = browser.run("""(async () => {
      const sounds = [...document.querySelectorAll("audio")];
      const later = (ms) => new Promise((done) => setTimeout(done, ms));
      const event = (name) => new Promise((done) => sounds[0].addEventListener(name, done, {once: true}));
      await Promise.all(sounds.map((one) => one.readyState || new Promise((done) => (one.onloadedmetadata = done))));
      await sounds[0].play();
      while (sounds[0].currentTime < 0.05) await later(10);
      await later(40);
      const cursor = document.querySelector(".cursor");
      const moved = [sounds[0].currentTime, parseFloat(cursor.style.left)];
      const paused = event("pause");
      sounds[0].pause();
      await paused;
      const stop = event("pause");
      document.querySelector(".words-tier button").click();
      await stop;
      await later(50);
      return [sounds.map((one) => one.duration), moved, sounds[0].currentTime, cursor.style.left];
    })()""")
    assert all(duration > 0.5 for duration in durations)
    assert moved[0] > 0.05 and moved[1] > 0
    assert stopped == pytest.approx(0.3, abs=0.02)
    assert float(width.rstrip("%")) == pytest.approx(100 * stopped / durations[0], abs=2)
    assert browser.errors == []


def test_click_on_the_picture_moves_the_cursor(browser: Browser, page: Path) -> None:
    browser.open(page)
    place = browser.run("""(async () => {
      const audio = document.querySelector("audio"), picture = document.querySelector(".spectrogram");
      if (!audio.readyState) await new Promise((done) => (audio.onloadedmetadata = done));
      const box = picture.getBoundingClientRect();
      const done = new Promise((seeked) => audio.addEventListener("seeked", seeked, {once: true}));
      picture.dispatchEvent(new MouseEvent("click", {bubbles: true, clientX: box.left + box.width / 2}));
      await done;
      return audio.currentTime / audio.duration;
    })()""")
    assert place == pytest.approx(0.5, abs=0.02)


def test_table_sorts_numbers_and_filters_rows(browser: Browser, page: Path) -> None:
    browser.open(page)
    values = "[...document.querySelector('.sortable').tBodies[0].rows].map((row) => row.cells[2].textContent)"
    press = "document.querySelectorAll('.sortable th button')[2].click()"
    ascending = browser.run(f"({press}, {values})")
    assert ascending == [*(f"{-number / 7:.2f}" for number in range(19, -1, -1) if number != 3), "–"]
    descending = browser.run(f"({press}, {values})")
    assert descending == [*ascending[-2::-1], "–"]
    shown = browser.run("""(() => {
      const field = document.querySelector(".filter input");
      field.value = "<SCRIPT>";
      field.dispatchEvent(new Event("input"));
      const rows = [...document.querySelector(".sortable").tBodies[0].rows].filter((row) => !row.hidden);
      return rows.map((row) => row.cells[0].textContent);
    })()""")
    assert shown == [NASTY]
    assert browser.errors == []


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("dark", [False, True])
def test_page_fits_the_window(browser: Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("document.title") == NASTY
    assert browser.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 27)" if dark else "rgb(251, 251, 249)"
    )
    assert browser.errors == []


def test_policy_stops_scripts_and_requests(browser: Browser, page: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.html"
    added = '<script>document.title = "run"</script><img src="missing.png" alt="">'
    changed.write_text(page.read_text(encoding="utf-8").replace("</main>", f"</main>{added}"), encoding="utf-8")
    browser.open(changed)
    assert browser.run("document.title") == NASTY
    assert len([error for error in browser.errors if "Content Security Policy" in error]) >= 2
