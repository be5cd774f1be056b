"""Every format of `asr prepare` gives the same data directory, and every entry is used or listed."""

from pathlib import Path

import pytest

from asr.alignment.label_files import PREPARED
from asr.cli import main
from asr.commands.prepare import FORMATS, Prepared, change_table, prepare
from asr.corpus.data_directory import read_data_directory
from asr.corpus.formats.source import ReadOptions
from asr.util.errors import ConfigError, CorpusError
from asr.util.text_normalization import TextNormalizer
from tests.source_formats import CORPORA, RATE, WORDS, WRITERS, recordings, textgrid, write_folder, write_sound


def run(format_name: str, source: Path, out: Path, **options: object) -> Prepared:
    rest: dict[str, object] = {"options": ReadOptions(), "normalizer": TextNormalizer(), **options}
    return prepare(format_name, source, out, **rest)  # type: ignore[arg-type]


def rows_of(out: Path) -> list[list[str]]:
    lines = (out / PREPARED).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


@pytest.mark.parametrize("name", WRITERS)
def test_prepare_gives_same_directory_from_each_format(name, tmp_path):
    format_name, write = WRITERS[name]
    source = tmp_path / "source"
    source.mkdir()
    result = run(format_name, write(source), tmp_path / "data")
    corpus = read_data_directory(tmp_path / "data")
    words = {one.id: one.words for one in corpus.utterances}
    assert words == WORDS
    assert corpus.speakers == ("anna", "boris", "chai")
    assert len(result.utterances) == 6
    codes = [row[2] for row in rows_of(tmp_path / "data")]
    other_tiers = 6 if name in ("elan", "csv", "json") else 0  # glosses or phones
    assert codes == ["used"] * 6 + ["other-tier"] * other_tiers


@pytest.mark.parametrize("name", CORPORA)
def test_public_corpora_are_read_by_their_layout(name, tmp_path):
    write, expected, codes = CORPORA[name]
    write(tmp_path / "corpus")
    result = run(name, tmp_path / "corpus", tmp_path / "data")
    for part, (utterance, text) in expected.items():
        corpus = read_data_directory(tmp_path / "data" / part)
        words = {one.id: one.words for one in corpus.utterances}
        assert words[utterance] == tuple(text.split())
    assert [one.code for one in result.left_out] == codes


def test_every_format_has_a_test():
    assert set(FORMATS) == {format_name for format_name, _ in WRITERS.values()} | set(CORPORA)


def test_unusable_entries_are_listed_with_place_and_code(tmp_path):
    source = write_folder(tmp_path / "source")
    (source / "anna" / "a1.txt").write_text("in 1984\n")
    (source / "anna" / "a2.txt").write_text("xxx\n")
    (source / "boris" / "b1.txt").write_text("?!\n")
    (source / "boris" / "b2.wav").write_bytes(b"RIFF")
    (source / "boris" / "b3.txt").write_text("alone\n")
    (source / "chai" / "c1.txt").write_bytes(b"caf\xe9\n")
    write_sound(source / "chai" / "c3.wav")
    run("folder", source, tmp_path / "data")
    rows = rows_of(tmp_path / "data")
    codes = {Path(place).name: code for place, _, code, _ in rows}
    assert codes == {
        "a1.txt": "digits",
        "a2.txt": "unintelligible",
        "b1.txt": "no-words",
        "b2.txt": codes["b2.txt"],
        "b3.txt": "no-audio",
        "c1.txt": "unreadable",
        "c2.txt": "used",
        "c3.wav": "no-transcript",
    }
    assert codes["b2.txt"] in ("unreadable", "truncated")
    assert all(reason for _, _, code, reason in rows if code != "used")


def test_rows_of_a_table_are_counted_and_bad_ones_named(tmp_path):
    found = recordings(tmp_path)
    lines = ["path;sentence;client_id;start;end"]
    lines += [f"{audio.relative_to(tmp_path)};Hallo;{speaker};0,1;0.4" for audio, speaker, _ in found[:1]]
    lines += [f"{audio.relative_to(tmp_path)};Hallo;{speaker};0.1;0.4" for audio, speaker, _ in found[1:2]]
    lines += ["none.wav;Hallo;x;;", ";Hallo;x;;", f"{found[2][0].relative_to(tmp_path)};;x;;"]
    lines += [f"{found[3][0].relative_to(tmp_path)};Hallo;x;0.1;9"]
    lines += [f'{found[4][0].relative_to(tmp_path)};"Hallo', "more;x;;"]
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    run("table", tmp_path / "table.csv", tmp_path / "data")
    codes = {place.rpartition(":")[2]: code for place, _, code, _ in rows_of(tmp_path / "data")}
    assert codes == {
        "2": "bad-time", "3": "used", "4": "no-audio", "5": "no-audio", "6": "no-words", "7": "bad-segment",
        "8": "open-quote", "9": "no-audio",
    }  # fmt: skip


def test_missing_column_names_the_line_and_the_option(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CorpusError, match=r"table\.csv:1.*--columns file=NAME,text=NAME,speaker=NAME"):
        run("table", tmp_path / "table.csv", tmp_path / "data")


def test_a_wrong_column_is_named_and_the_right_ones_are_kept(tmp_path):
    (tmp_path / "table.csv").write_text("archivo,texto\n1,2\n")
    with pytest.raises(CorpusError, match=r"text \('textos'\).*--columns file=archivo,text=NAME,speaker=NAME"):
        run(
            "table",
            tmp_path / "table.csv",
            tmp_path / "data",
            options=ReadOptions(columns={"file": "archivo", "text": "textos"}),
        )


def test_segments_of_a_recording_are_numbered_and_speakers_are_tiers(tmp_path):
    write_sound(tmp_path / "source" / "talk.wav", 2.0)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "2", "<exists>", "3"]
    for name, label in (("Anna", "Good morning."), ("Boris", "Hello?")):
        lines += ['"IntervalTier"', f'"{name}"', "0", "2", "2", "0.2", "0.9", f'"{label}"', "1", "1.8", '"Yes"']
    lines += ['"IntervalTier"', '"Anna - phones"', "0", "2", "1", "0.2", "0.9", '"g"']
    (tmp_path / "source" / "talk.TextGrid").write_text("\n".join(lines) + "\n")
    run("textgrid", tmp_path / "source", tmp_path / "data")
    corpus = read_data_directory(tmp_path / "data")
    assert {one.id: (one.speaker, one.start, one.end) for one in corpus.utterances} == {
        "Anna_talk_0001": ("Anna", 0.2, 0.9),
        "Anna_talk_0002": ("Anna", 1.0, 1.8),
        "Boris_talk_0003": ("Boris", 0.2, 0.9),
        "Boris_talk_0004": ("Boris", 1.0, 1.8),
    }


def test_damaged_annotation_files_are_left_out(tmp_path):
    source = tmp_path / "source"
    for name, content in (("a.TextGrid", "nothing"), ("b.TextGrid", 'File type = "ooTextFile"\n')):
        write_sound(source / f"{Path(name).stem}.wav")
        (source / name).write_text(content)
    write_sound(source / "c.wav")
    textgrid("fine", "utf-8", source / "c.TextGrid")
    assert [one.code for one in run("textgrid", source, tmp_path / "data").left_out] == ["unreadable"] * 2


def test_test_speakers_are_drawn_or_named(tmp_path):
    source = write_folder(tmp_path / "source")
    run("folder", source, tmp_path / "drawn", test_speakers=1)
    train, test = (set(read_data_directory(tmp_path / "drawn" / part).speakers) for part in ("train", "test"))
    assert (len(train), len(test)) == (2, 1) and not train & test
    run("folder", source, tmp_path / "named", test_speakers=["chai", "boris"])
    assert read_data_directory(tmp_path / "named" / "test").speakers == ("boris", "chai")
    for wrong in (3, ["dora"], ["anna", "boris", "chai"]):
        with pytest.raises(ConfigError, match="--test-speakers"):
            run("folder", source, tmp_path / "wrong", test_speakers=wrong)


@pytest.mark.parametrize(
    ("rule", "speakers"),
    [("folder", {"anna", "boris", "chai"}), ("one", {"speaker"}), ("([abc])[12]$", {"a", "b", "c"}), ("file", None)],
)
def test_speakers_follow_the_rule(rule, speakers, tmp_path):
    result = run("folder", write_folder(tmp_path / "source"), tmp_path / "data", speakers=rule)
    found = {one.speaker for one in result.utterances.values()}
    assert found == (speakers or {"a1", "a2", "b1", "b2", "c1", "c2"})


def test_dry_run_writes_nothing_and_shows_changes(tmp_path):
    result = run("folder", write_folder(tmp_path / "source"), tmp_path / "data", dry_run=True)
    assert not (tmp_path / "data").exists()
    table = list(change_table(result.changes))
    assert "carte!\tcarte\t1" in table and "«déjà»\tdéjà\t1" in table


def test_words_take_the_case_of_the_lexicon(tmp_path):
    source = write_folder(tmp_path / "source")
    (tmp_path / "lexicon.txt").write_text("CARTE K A R T\nLA L A\n")
    result = run("folder", source, tmp_path / "data", lexicon=tmp_path / "lexicon.txt")
    assert result.utterances["anna_a1"].words == ("CAFÉ", "À", "LA", "CARTE")
    assert result.missing_words["CAFÉ"] == 1 and "LA" not in result.missing_words


def test_lexicon_without_letter_case_leaves_lower_case(tmp_path):
    (tmp_path / "lexicon.txt").write_text("हिन्दी h i n d i\n")
    result = run("folder", write_folder(tmp_path / "source"), tmp_path / "data", lexicon=tmp_path / "lexicon.txt")
    assert result.utterances["anna_a1"].words == WORDS["anna_a1"]


def test_nothing_usable_is_an_error(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="nothing"):
        run("folder", tmp_path / "empty", tmp_path / "data")
    with pytest.raises(CorpusError, match="needs a file"):
        run("table", tmp_path / "empty", tmp_path / "data")
    with pytest.raises(ConfigError, match="format"):
        run("unknown", tmp_path / "empty", tmp_path / "data")


def test_command_line_prepares_and_reports(tmp_path, capsys):
    source = write_folder(tmp_path / "source")
    with pytest.raises(SystemExit) as done:
        main(["prepare", "folder", str(source), str(tmp_path / "data"), "--test-speakers", "anna"])
    assert done.value.code == 0
    assert "6 of 6" in capsys.readouterr().out
    assert read_data_directory(tmp_path / "data" / "test").speakers == ("anna",)
    with pytest.raises(SystemExit) as done:
        main(["prepare", "table", str(source), str(tmp_path / "data"), "--columns", "file"])
    assert done.value.code == 1
    assert "--columns" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*WRITERS, *CORPORA])
def test_commands_name_the_prepare_command_for_such_a_folder(name, tmp_path, capsys):
    source = tmp_path / "source"
    source.mkdir()
    given = WRITERS[name][1](source) if name in WRITERS else CORPORA[name][0](source) or source
    (tmp_path / "lexicon.txt").write_text("a a\n")
    rest = {"validate": [], "train": ["--work-dir", str(tmp_path / "run")], "align": ["--out", str(tmp_path / "out")]}
    for command, options in rest.items():
        with pytest.raises(SystemExit) as done:
            main([command, "--data", str(source), "--lexicon", str(tmp_path / "lexicon.txt"), *options])
        assert done.value.code == 1
        assert f"asr prepare {WRITERS[name][0] if name in WRITERS else name} {given} OUT" in capsys.readouterr().err


def test_lists_of_another_program_are_kept(tmp_path):
    source, out = write_folder(tmp_path / "source"), tmp_path / "data"
    out.mkdir()
    (out / "wav.scp").write_text("a a.wav\n")
    with pytest.raises(CorpusError, match="another folder"):
        run("folder", source, out)
    assert (out / "wav.scp").read_text() == "a a.wav\n"
    (out / "wav.scp").unlink()
    for _ in range(2):  # its own lists are replaced
        assert len(run("folder", source, out).utterances) == 6


def test_segments_of_a_long_recording_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr("asr.corpus.audio.MAX_SAMPLES", RATE)  # a second
    audio = write_sound(tmp_path / "talk.wav", 3.0)
    rows = [f"{audio.name},said,anna,{start},{start + 0.5}" for start in (0.0, 2.4, 2.9, 3.1)]
    (tmp_path / "table.csv").write_text("\n".join(["file,text,speaker,start,end", *rows]) + "\n")
    result = run("table", tmp_path / "table.csv", tmp_path / "data")
    assert [one.code for one in result.left_out] == ["bad-segment"]
    assert result.seconds == pytest.approx(1.1)


def test_help_lists_every_format(capsys):
    with pytest.raises(SystemExit):
        main(["prepare", "--help"])
    listed = set(capsys.readouterr().out.replace(",", " ").split())
    assert set(FORMATS) <= listed
