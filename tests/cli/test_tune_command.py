"""`asr tune` writes a new model with other settings, says what they are, and overwrites nothing unasked."""

import shutil
from functools import partial

import pytest

from asr.acoustic.model_file import describe_model, load_model


@pytest.fixture(autouse=True)
def few_words_and_a_small_graph_are_tried(monkeypatch):
    monkeypatch.setattr("asr.training.tuning.beam.MIN_WORDS", 0)
    monkeypatch.setattr("asr.training.tuning.beam.SMALL_GRAPH", 0)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "tuned.safetensors"


@pytest.fixture
def tune(toy_model, toy_corpus, output, asr):
    return partial(asr, "tune", "--model", toy_model, "--data", toy_corpus / "test", "--out", output, "-j", 1)


@pytest.fixture
def said(toy_corpus):
    """The transcripts of the test directory."""
    return dict(line.split(maxsplit=1) for line in (toy_corpus / "test" / "text").read_text().splitlines())


@pytest.fixture
def tuned(tune, output):
    status, out, err = tune("--grammar", "loop")
    assert status == 0, err
    return output, out


def test_the_new_model_differs_in_its_search_settings_alone(tuned, toy_model):
    output, out = tuned
    before, after = load_model(toy_model), load_model(output)
    assert after.search != before.search
    assert after.search.beam < before.search.beam
    assert (after.arpa, after.lexicon, after.source) == (before.arpa, before.lexicon, before.source)
    assert not after.held_out.own_grammar and after.rejection is None
    lines = out.splitlines()
    assert lines[0] == str(output)
    assert f"beam {after.search.beam:g} (was {before.search.beam:g})" in lines
    assert lines[-1].endswith("% WER on the tuning data")


def test_a_file_that_is_there_is_overwritten_only_if_asked(tuned, tune, toy_model, said):
    output, _ = tuned
    status, _, err = tune()
    assert (status, "--overwrite" in err) == (1, True)
    output.write_bytes(b"something else")
    assert tune("--overwrite")[0] == 0
    new = load_model(output)
    assert new.search.beam < load_model(toy_model).search.beam
    assert new.held_out is not None
    n_words = sum(len(words.split()) for words in said.values())
    assert (new.held_out.words, new.held_out.cross_validated) == (n_words, False)


def test_the_model_itself_is_never_overwritten(toy_model, toy_corpus, tmp_path, asr):
    model = shutil.copy(toy_model, tmp_path / "model.safetensors")
    arguments = ["tune", "--model", model, "--data", toy_corpus / "test", "--out", model, "--overwrite"]
    status, _, err = asr(*arguments)
    assert (status, "input model" in err) == (1, True)


def test_utterances_that_cannot_be_used_are_listed(toy_model, toy_corpus, tmp_path, output, asr):
    data = shutil.copytree(toy_corpus / "test", tmp_path / "test")
    shutil.copytree(toy_corpus / "audio", tmp_path / "audio")
    text = (data / "text").read_text()
    (data / "text").write_text(text.replace("WISE TWO SEVEN ONE", "HYBRID"))
    status, _, err = asr("tune", "--model", toy_model, "--data", data, "--out", output, "-j", 1)
    assert status == 0
    assert "9 of 10 utterances done; left out: 1 unknown-word" in err
    assert "HYBRID" in err


def test_impossible_transcripts_are_told_before_the_search(tune, said, toy_corpus, tmp_path, monkeypatch, caplog):
    def searched(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("asr.commands.tune.static_frames", searched)
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("WISE TWO NO\nSEVEN SEVEN TWO\nTWO WISE SEVEN\nNO WISE\nONE\n")
    assert tune("--grammar", sentences)[0] == 130
    (line,) = [message for message in caplog.messages if "does not accept" in message]
    assert line.startswith(f"the grammar '{sentences}' does not accept 8 of the 10 transcripts in {toy_corpus}/test; ")
    assert "of the first, 'test0-000': 'SEVEN' cannot follow 'WISE TWO'" in line
    assert "at least 8 errors" in line and "(35 of 41 words)" in line
    sentences.write_text("SEVEN SEVEN TWO\nTWO WISE SEVEN\n")
    caplog.clear()
    assert tune("--grammar", sentences)[0] == 130
    (line,) = [message for message in caplog.messages if "does not accept" in message]
    spoken = [words.split() for words in said.values()]
    refused = [words for words in spoken if words not in (["SEVEN", "SEVEN", "TWO"], ["TWO", "WISE", "SEVEN"])]
    assert 0 < len(refused) < len(spoken)
    lacking = [sum(word not in ("SEVEN", "TWO", "WISE") for word in words) for words in refused]
    least = sum(n_lacking or 1 for n_lacking in lacking)
    assert least > len(refused)
    shares = f"{sum(map(len, refused))} of {sum(map(len, spoken))} words"
    assert f"at least {least} errors" in line and f"({shares})" in line
    sentences.write_text("WISE TWO SEVEN ONE NO\n")
    status, out, err = tune("--grammar", sentences)
    assert (status, out) == (1, "")
    assert "accepts none of the 10 transcripts" in err
    assert "'test0-000': no sentence of the grammar ends after 'WISE TWO SEVEN ONE'" in err


def test_confidences_are_fitted_to_possible_transcripts(tune, said, tmp_path, monkeypatch):
    left_out = []

    def fitted(scored, search, *, leave_out):
        left_out.extend(sorted(leave_out))
        return search.confidence

    monkeypatch.setattr("asr.commands.tune.confidence_on", fitted)
    kept = list(said)[:4]
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("".join(f"{said[name]}\n" for name in kept))
    assert tune("--grammar", sentences)[0] == 0
    assert left_out == sorted(name for name, words in said.items() if words not in {said[other] for other in kept})
    assert 0 < len(left_out) < len(said)


def test_tune_with_others_fits_filler_penalty(toy_model, toy_corpus, said, output, tmp_path, asr):
    """The commands are the sentences of one speaker, the other recordings those of the other with other sentences."""
    test = toy_corpus / "test"
    commands = {name: words for name, words in said.items() if name.startswith("test0")}
    others = [name for name, words in said.items() if words not in commands.values()]
    for folder, names in (("commands", commands), ("others", others)):
        (tmp_path / folder).mkdir()
        for kind in ("wav.scp", "utt2spk", *(["text"] if folder == "commands" else [])):
            lines = [line for line in (test / kind).read_text().splitlines() if line.split()[0] in names]
            (tmp_path / folder / kind).write_text("".join(f"{line}\n" for line in lines))
    grammar = tmp_path / "commands.txt"
    grammar.write_text("".join(f"{words}\n" for words in sorted(set(commands.values()))))
    arguments = ["tune", "--model", toy_model, "--data", tmp_path / "commands", "--out", output, "-j", 1]
    arguments += ["--root", toy_corpus, "--grammar", grammar, "--others", tmp_path / "others"]
    status, out, err = asr(*arguments)  # without a filler: limits of likelihood ratios
    assert status == 0, err
    assert "lost: 0 of" in out
    limited = load_model(output).search
    described = describe_model(output)
    assert described["rejection"]["by"].startswith("limits") and "tuning grammar" in str(described["held-out speech"])
    assert limited.filler_penalty == load_model(toy_model).search.filler_penalty
    assert limited.rejects
    output.unlink()
    with grammar.open("a") as file:
        file.write("[unk]\n")
    status, out, err = asr(*arguments)
    assert status == 0, err
    assert f"lost: 0 of the {len(commands)} " in out
    assert f"accepted: 0 of {len(others)} " in out
    assert "with rejection: 0 errors" in out
    search = load_model(output).search
    assert not search.rejects
    assert search.filler_penalty != load_model(toy_model).search.filler_penalty
    given = ["--model", output, "--grammar", grammar, "--root", toy_corpus, "-j", 1]
    for folder, names in (("commands", commands), ("others", others)):
        status, _, err = asr("decode", *given, "--data", tmp_path / folder, "--out", tmp_path / f"{folder}-out")
        assert status == 0, err
        lines = (tmp_path / f"{folder}-out" / "hyp.txt").read_text().splitlines()
        assert lines == [f"{name} {commands[name]}" if folder == "commands" else name for name in sorted(names)]


@pytest.fixture
def commands(toy_corpus, tmp_path):
    """Sentences of the test, and the same with the filler."""
    said = [line.split(maxsplit=1)[1] for line in (toy_corpus / "test" / "text").read_text().splitlines()]
    (tmp_path / "plain.txt").write_text("".join(f"{words}\n" for words in sorted(set(said))))
    return tmp_path / "plain.txt"


def test_tune_with_others_refuses_what_cannot_be_meant(toy_model, toy_corpus, tmp_path, commands, asr):
    given = ["tune", "--model", toy_model, "--out", tmp_path / "t", "-j", 1, "--grammar", commands]
    status, _, err = asr(*given, "--data", toy_corpus / "test", "--others", toy_corpus / "test")
    assert status == 1 and "without commands" in err
    with commands.open("a") as file:
        file.write("[UNK]\n")
    status, _, err = asr(*given, "--data", toy_corpus / "test", "--others", toy_corpus / "train")
    assert status == 1 and "[unk]" in err
    assert not (tmp_path / "t").exists()


def test_tune_with_wrong_transcripts_fits_no_rejection(toy_model, toy_corpus, tmp_path, asr):
    data = tmp_path / "data"
    shutil.copytree(toy_corpus / "test", data)
    names = [line.split()[0] for line in (data / "text").read_text().splitlines()]
    (data / "text").write_text("".join(f"{name} WISE WISE WISE WISE WISE WISE WISE WISE WISE\n" for name in names))
    given = ["--data", data, "--others", toy_corpus / "train", "--root", toy_corpus, "--grammar", "loop"]
    status, _, err = asr("tune", "--model", toy_model, "--out", tmp_path / "t", "-j", 1, *given)
    assert status == 1 and "rejection" in err
    assert not (tmp_path / "t").exists()
