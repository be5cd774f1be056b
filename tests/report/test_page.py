import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest

from asr.alignment.recording_labels import Label
from asr.report.clip import Clip, Tier
from asr.report.page import Excerpt, PlainTable, Section, write_report
from asr.scoring.wer import score_utterances

VOID = {"meta", "link", "br", "img", "hr", "use"}

LABELS = [Label(0.0, 0.5, "ONE"), Label(0.5, 1.0, "</script>", 0.1), Label(1.0, 2.0, "TWO", 0.7)]
CLIPS = {
    "u1": Clip(2.0, 2.0, 4000, "data:audio/wav;base64,", "data:image/png;base64,", "M0 0Z", [Tier("words", LABELS)])
}
SECTION = Section("Heard", "Two.", [Excerpt("u1", "speaker s", "Its <reason>."), Excerpt("u2", "speaker s")])


class Page(HTMLParser):
    """Elements, ids and visible text of a page; refuses tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def make_arguments(n_speakers=3):
    references = {f"s{s}-{n}": ["SHOW", "THE", "SHIPS"] for s in range(n_speakers) for n in range(2)}
    hypotheses = {id: ["SHOW", "SHIPS", "NOW"] if id.endswith("1") else ["SHOW", "THE", "SHIP"] for id in references}
    speakers = {id: id.partition("-")[0] for id in references}
    report = score_utterances(references, hypotheses, speakers=speakers)
    row = {
        "system": "gmm-8", "kind": "gmm", "unit": "mono", "primary": False,
        "grammar": "wordpair", "split": "test",
        "wer": report.wer, "ser": report.ser, "words": report.words, "errors": report.errors,
        "sub": report.substitutions, "del": report.deletions, "ins": report.insertions,
        "decode_rtf": 0.0123, "train_seconds": 31.4, "frame_accuracy": None,
    }  # fmt: skip
    return {
        "title": "Quickstart",
        "rows": [
            row,
            row | {"system": "orols", "kind": "discriminant", "primary": True, "frame_accuracy": 61.25},
        ],
        "speakers": {"gmm-8": report.speakers(), "orols": report.speakers()[1:]},
        "curves": {
            "GMM log-likelihood per frame by iteration": [-80.0, -71.5, -70.25],
            "Discriminant loss by pass": [2.0 / (n + 1) for n in range(60)],
        },
        "transcripts": report.worst(4),
        "notes": ["Four voices were not heard in training."],
    }


@pytest.fixture
def render(tmp_path):
    def render_page(**changes):
        path = tmp_path / "report.html"
        write_report(path, **(make_arguments() | changes))
        return path.read_text(encoding="utf-8")

    return render_page


def test_every_column_of_the_results_is_explained(render):
    page = Page(render())
    for column in ("WER", "SER", "Sub, Del, Ins", "Kind", "Unit"):
        assert f"{column}: " in page.words


def test_the_page_shows_results_speakers_curves_and_transcripts(render):
    page = Page(render())
    for expected in ("Quickstart", "Four voices", "orols", "primary", "0.0123", "61.2", "s2", "−70", "NOW"):
        assert expected in page.words
    assert [attrs["id"] for attrs in page.all("desc")] == ["speakers-text", "curve0-text", "curve1-text"]


def test_page_has_one_script_allowed_by_its_hash(render):
    html = render(sections=[SECTION], clips=CLIPS)
    page = Page(html)
    assert not page.all("link") + page.all("iframe")
    assert page.all("script") == [{}]
    assert not re.search(r"https?://|@import|url\((?!#)|\bon\w+=", html)
    assert all(attrs["src"].startswith("data:") for attrs in page.all("img") + page.all("audio"))
    (policy,) = [attrs["content"] for attrs in page.all("meta") if attrs.get("http-equiv")]
    script = re.search(r"<script>(.*?)</script>", html, flags=re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; ") and policy.endswith(f"script-src 'sha256-{digest}'")


def test_player_is_in_the_first_excerpt_of_an_utterance(render):
    table = PlainTable("Utterances", "", ["Name", "Errors"], [("u1", 2), ("u2", None)], linked=0)
    page = Page(render(sections=[SECTION, SECTION], clips=CLIPS, tables=[table]))
    assert [attrs["aria-label"] for attrs in page.all("audio")] == ["u1"]
    assert [attrs["href"] for attrs in page.all("a")] == ["#utterance-1", "#utterance-2"]
    assert {"class": "utterance", "id": "utterance-1"} in page.all("section")
    buttons = page.all("button")
    assert [attrs["class"] for attrs in buttons] == ["", "low", "fair"]
    assert buttons[1]["title"] == "</script>: 0.500 to 1.000 s, trust 0.10"
    assert "Its <reason>." in page.words


def test_table_aligns_columns_of_numbers(render):
    rows = [("a", 1, 0.25, "x"), ("b", None, None, None)]
    html = render(tables=[PlainTable("T", "", ["Name", "Count", "Score", "Note"], rows, digits=3)])
    assert re.findall(r'<td class="number">([^<]*)</td>', html.partition('class="sortable"')[2])[:4] == [
        "1",
        "0.250",
        "–",
        "–",
    ]


def test_equal_arguments_give_equal_bytes_without_date_or_version(render):
    first = render()
    assert first == render()
    assert "matplotlib v" not in first.lower()
    assert not re.search(r"20\d\d-\d\d", first)


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(tmp_path):
    program = (
        "import sys; from asr.report.page import write_report; write_report(sys.argv[1], title='t', rows=[], "
        "speakers={}, curves={'loss by pass': [2.0, 1.0]}, transcripts=[])"
    )
    pages = []
    for name in ("a.html", "b.html"):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], check=True)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_ids_are_unique_and_references_lead_to_them(render):
    html = render()
    ids = [attrs["id"] for _, attrs in Page(html).elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    labels = {name for value in re.findall(r'aria-labelledby="([^"]*)"', html) for name in value.split()}
    targets = set(re.findall(r'(?:href="|url\()#([^")]+)', html)) | labels
    assert targets
    assert targets <= set(ids)


def test_the_page_is_readable_without_sight_and_on_a_phone(render):
    page = Page(render())
    assert page.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.all("meta")
    assert len(page.all("h1")) == 1
    assert all(attrs.get("scope") in ("col", "row", "colgroup") for attrs in page.all("th"))
    assert all(attrs.get("role") == "img" and "aria-labelledby" in attrs for attrs in page.all("svg"))
    assert all("viewbox" in attrs and "width" not in attrs for attrs in page.all("svg"))
    regions = [attrs for attrs in page.all("div") if attrs.get("role") == "region"]
    assert all("aria-labelledby" in attrs or "aria-label" in attrs for attrs in regions)


def test_figures_take_their_colours_from_the_page(render):
    html = render()
    figures = "".join(re.findall(r"<svg.*?</svg>", html, flags=re.DOTALL))
    assert "currentColor" in figures
    assert "var(--series-1)" in figures
    assert not re.search(r"#[0-9a-f]{6}\b", figures)
    assert "<style" not in figures


def test_markup_in_names_is_shown_as_it_is(render):
    nasty = '<b>$x^2$ & "co"</b>'
    references = {nasty: [nasty.replace(" ", "")], "b": ["ONE"]}
    report = score_utterances(references, {}, speakers={nasty: nasty, "b": "_b"})
    html = render(
        title=nasty,
        notes=[nasty],
        speakers={nasty: report.speakers()},
        curves={f"{nasty} by {nasty}": [2.0]},
        transcripts=report.utterances,
        transcripts_of=nasty,
    )
    page = Page(html)
    assert not page.all("b")
    assert page.words.count(nasty) >= 8


def test_an_empty_report_is_still_a_page(render):
    page = Page(render(rows=[], speakers={}, curves={}, transcripts=[], notes=[]))
    assert "There are no results." in page.words
    assert not page.all("svg")


def test_a_curve_without_points_says_so(render):
    assert "No values were recorded." in Page(render(curves={"loss by pass": []})).words


def test_a_speaker_without_words_has_a_dash_and_no_bar(render):
    report = score_utterances({"a-1": [], "b-1": ["ONE"]}, {}, speakers={"a-1": "ann", "b-1": "bob"})
    html = render(speakers={"gmm-8": report.speakers()})
    figure = re.search(r"<svg.*?</svg>", html, flags=re.DOTALL)[0]
    assert "bob" in figure
    assert "ann" not in figure
    assert "ann 1 0 0 –" in Page(html).words


def test_many_speakers_are_all_in_the_table_and_the_worst_in_the_figure(render):
    arguments = make_arguments(n_speakers=40)
    html = render(speakers=arguments["speakers"])
    figure = re.search(r"<svg.*?</svg>", html, flags=re.DOTALL)[0]
    assert "the 24 speakers of 40 with the highest" in figure
    rows = re.findall(r'<tr>\s*<th scope="row">(s\d+)</th>', html)
    assert len(rows) == 40
    assert float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', figure)[1]) < 1000


def test_a_matplotlibrc_of_the_user_changes_nothing(render):
    import matplotlib

    plain = render()
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert render() == plain


def test_matplotlib_and_jinja_load_only_when_a_page_is_written():
    program = (
        "import sys; import asr.report.page; "
        "assert not {'matplotlib', 'jinja2'} & {name.partition('.')[0] for name in sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
