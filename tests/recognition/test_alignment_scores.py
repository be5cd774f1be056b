"""What `align` says of transcripts that are not those of the audio."""

import logging
from pathlib import Path

from asr.recognition.aligning import align


def copied(corpus: Path, folder: Path, transcripts: dict[str, str]) -> Path:
    """The training set of a corpus under other transcripts."""
    folder.mkdir()
    for name in ("wav.scp", "utt2spk", "spk2utt"):
        text = (corpus / "train" / name).read_text(encoding="utf-8")
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "text").write_text("".join(f"{name} {words}\n" for name, words in transcripts.items()), encoding="utf-8")
    return folder


def transcripts_of(corpus: Path) -> dict[str, str]:
    lines = (corpus / "train" / "text").read_text(encoding="utf-8").splitlines()
    return {name: words for name, _, words in (line.partition(" ") for line in lines)}


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_alignment_has_a_score_and_the_line_of_the_log_names_a_wrong_transcript(
    toy_corpus: Path, toy_model: Path, tmp_path: Path, caplog
) -> None:
    given = transcripts_of(toy_corpus)
    first, second = sorted(given)[2], sorted(given)[7]
    given[first], given[second] = "NO TWO NO", "WISE WISE SEVEN"
    root = toy_corpus
    with caplog.at_level(logging.WARNING, logger="asr.alignment.score_files"):
        align(toy_model, copied(toy_corpus, tmp_path / "data", given), tmp_path / "out", root=root)
    header, *scores = rows(tmp_path / "out" / "scores.tsv")
    assert header == ["utterance", "score"]
    assert [name for name, _ in scores] == sorted(given)
    assert all(float(score) <= 0 for _, score in scores)
    assert {name for name, score in scores if float(score) < -1} == {first, second}
    suspects = rows(tmp_path / "out" / "suspects.tsv")[1:]
    assert sorted((row[0], row[1], row[4]) for row in suspects) == [
        ("utterance", name, given[name]) for name in sorted([first, second])
    ]
    (record,) = caplog.records
    assert "2 entries in" in record.getMessage()


def test_a_corpus_in_reversed_order_is_told(toy_corpus: Path, toy_model: Path, tmp_path: Path) -> None:
    given = transcripts_of(toy_corpus)
    turned = dict(zip(given, reversed(given.values()), strict=True))
    data = copied(toy_corpus, tmp_path / "data", turned)
    align(toy_model, data, tmp_path / "out", root=toy_corpus)
    ((kind, name, _, reason, _),) = rows(tmp_path / "out" / "suspects.tsv")[1:]
    assert (kind, name) == ("corpus", "all")
    assert "hardly better" in reason
