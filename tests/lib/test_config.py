"""Configs: every mistake is named before anything runs."""

import re
from pathlib import Path
from typing import Any

import pytest

import nmt_lib as nmt
from nmt_lib.config import CONFIG_FOLDER, Config, Section, config_names
from nmt_lib.training.run_folder import run_path
from tests.lib.small import SMALL, rows

NAMED = pytest.mark.parametrize("name", config_names())


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


NEAREST = """
train.sed | train.seed
model.dmodel | model.d_model
d_model | model.d_model
data.source_lang | data.src_lang
nam | name
train_seed | train.seed
"""


@pytest.mark.parametrize(("key", "nearest"), rows(NEAREST))
def test_an_unknown_key_is_named_with_the_nearest_valid_one(
    key: str, nearest: str, tmp_path: Path
) -> None:
    section, _, last = key.rpartition(".")
    path = write(tmp_path, f"{section}:\n  {last}: 1\n" if section else f"{last}: 1\n")
    message = rf"unknown key '{key}'.*did you mean '{nearest}'"
    for config, options in (("tiny", {key: 1}), (path, {})):
        with pytest.raises(nmt.ConfigError, match=message):
            nmt.load_config(config, **options)


WRONG = """train.seed='1' train.seed=true train.seed=1180591620717411303424
train.lr=.nan train.lr=0 train.betas=[0.9,1.5] train.max_steps=0 model.dropout=1.0
model.norm=middle data.lowercase=yes data.corpus='' data.src_lang=Spanish
data.tgt_lang=jp decode.beam_size=0 run_dir=null model.d_ff=1000000000
model.n_decoder_layers=1000000000 data.vocab_size=2147483648 train.accumulate=1000000000
train.threads=1000000000 decode.length_penalty=10000.0"""
HUGE: dict[str, Any] = {
    "data.tgt_lang": "es-" + "x" * 999,
    "train.warmup": 10**400,
    "data.seed": "long" * 10**6,
    "data.limit": [[[1] * 99] * 99] * 99,
}


@pytest.mark.parametrize("option", [*WRONG.split(), *HUGE])
def test_a_wrong_type_or_value_is_named_with_its_key(option: str) -> None:
    key = option.partition("=")[0]
    values = nmt.parse_overrides(option) if key != option else {key: HUGE[key]}
    with pytest.raises(nmt.ConfigError, match=re.escape(key)) as error:
        nmt.load_config("tiny", **values)
    assert len(str(error.value)) < 600


UNFIT = r"""
model.d_model=30 | d_model=30 is not divisible by model.n_heads=4
model.d_model=33 model.n_heads=3 | must be even .*33
data.src_lang=fr | both 'fr'
model.tying=three-way | data.joint=true
data.bpe_dropout=0.1 | 'spacy' has none: use tokenizer=bpe
data.joint=true | needs subwords
train=3 | unknown key 'train': it is a section, .* 'train.seed'
data.tgt_lang=cz | tgt_lang='cz' is no language: .*\(cs\)
data.tgt_lang=pl | data.tokenizer=bpe.*, and another data.corpus
"""


@pytest.mark.parametrize(("options", "message"), rows(UNFIT))
def test_values_that_do_not_fit_together_are_explained(
    options: str, message: str
) -> None:
    with pytest.raises(nmt.ConfigError, match=message):
        nmt.load_config("tiny", **nmt.parse_overrides(options))


@pytest.mark.parametrize("code", ["zh", "no", "pt-BR", "haw"])
def test_any_language_can_be_named(tmp_path: Path, code: str) -> None:
    subwords = {"data.tokenizer": "bpe", "data.tgt_lang": code}
    config = nmt.load_config("multi30k", **subwords)
    again = nmt.load_config(write(tmp_path, config.to_yaml()))
    assert again == config and again.data.tgt_lang == code
    with pytest.raises(nmt.ConfigError, match="choose subwords"):
        nmt.load_config(config, **{"data.tokenizer": "spacy", "data.joint": False})


def test_an_unknown_name_or_file_lists_all_names() -> None:
    with pytest.raises(nmt.ConfigError, match="did you mean 'tiny'") as error:
        nmt.load_config("tinny.yaml")
    assert all(name in str(error.value) for name in config_names())
    with pytest.raises(nmt.ConfigError, match=r"'nowhere.yaml'"):
        nmt.load_config("nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: [1\nfoo", "not valid YAML"),
        ("train.seed: 3", "'train.seed' in one line: put it below"),
        ("train:\n\tseed: 1\n", "not valid YAML.*line 2"),
        (b"\xff\xfe\x00", "not valid YAML"),
        ("- 1\n", "must hold keys and values"),
        ("train: {seed: 1}\ntrain: {lr: 0.1}\n", "not valid YAML.*duplicate"),
        ("!!python/object/apply:os.getcwd []\n", "not valid YAML"),
        ("train: {seed: !!bool maybe}", "not valid YAML.*maybe"),
        ("train: {seed: !!int ''}", "not valid YAML"),
        ("train:\n", "train: "),
    ],
)
def test_a_file_that_cannot_be_read_says_why_on_one_line(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(nmt.ConfigError, match=message) as caught:
        nmt.load_config(write(tmp_path, text))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_a_file_states_only_what_differs_from_the_defaults(tmp_path: Path) -> None:
    config = nmt.load_config(write(tmp_path, "train: {lr: 1e-4}\n"))
    assert config.name == "mine"
    assert config.train.lr == 1e-4  # YAML 1.1 would read the text "1e-4"
    assert config.model == Config().model
    assert nmt.load_config(write(tmp_path, "")).train == Config().train


# A config, options, options then, and the name of the run.
NAMES = """
tiny | train.seed=1 data.tgt_lang=de | train.seed=1 | tiny-en-de-seed1
tiny | train.seed=1 data.tgt_lang=de | data.tgt_lang=fr | tiny-seed1
tiny | train.seed=1 data.tgt_lang=de | train.seed=12 | tiny-en-de-seed12
tiny | train.seed=1 data.tgt_lang=de | train.seed=0 | tiny-en-de
tiny | train.seed=1 data.tgt_lang=de | train.seed=0 data.tgt_lang=fr | tiny
tiny | train.seed=1 data.tgt_lang=de | train.seed=2 name=mine | mine
tiny | data.tgt_lang=de | data.src_lang=en data.tgt_lang=de | tiny-en-de
tiny | data.tgt_lang=de | data.tgt_lang=fr | tiny
tiny | data.tgt_lang=de | data.src_lang=de data.tgt_lang=fr | tiny-de-fr
tiny |  | data.src_lang=de data.tgt_lang=fr | tiny-de-fr
name: a-en-fr |  | data.src_lang=en data.tgt_lang=fr | a-en-fr
name: a-en-fr |  | data.src_lang=fr data.tgt_lang=en | a-fr-en
train: {seed: 3} |  | train.seed=3 | mine
train: {seed: 3} |  | train.seed=0 | mine-seed0
"""


@pytest.mark.parametrize(("config", "options", "then", "name"), rows(NAMES))
def test_each_seed_and_direction_has_a_run_of_its_own(
    config: str, options: str, then: str, name: str, tmp_path: Path
) -> None:
    """Names of directions do not pile up, and that of the file is the same run."""
    path = config if config == "tiny" else write(tmp_path, config)
    first = nmt.load_config(path, **nmt.parse_overrides(options))
    assert nmt.load_config(first, **nmt.parse_overrides(then)).name == name


def test_a_config_stays_as_it_was_checked() -> None:
    config = nmt.load_config("tiny")
    with pytest.raises(ValueError, match="frozen"):
        config.train.seed = "x"  # type: ignore[misc, assignment]
    assert nmt.load_config(config) == config


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("train.lr=1e-4 data.tgt_lang=fr", {"train.lr": 1e-4, "data.tgt_lang": "fr"}),
        ("train.betas=[0.9, 0.98]  a=2", {"train.betas": [0.9, 0.98], "a": 2}),
        ("run_dir=/a b/c d seed=2", {"run_dir": "/a b/c d", "seed": 2}),
        ("lowercase=true limit=null", {"lowercase": True, "limit": None}),
        ("  ", {}),
        (["corpus=/a b=2/c d.tsv", "seed=1"], {"corpus": "/a b=2/c d.tsv", "seed": 1}),
        ("a=/b #1/c.tsv  d='e' # f", {"a": "/b #1/c.tsv", "d": "e"}),
    ],
)
def test_overrides_in_one_text_or_each_in_its_own(
    text: str | list[str], values: dict[str, Any]
) -> None:
    assert nmt.parse_overrides(text) == values


@pytest.mark.parametrize("text", ["train.seed", "train.seed 1", "train.betas=[1"])
def test_overrides_that_are_not_key_and_value_are_errors(text: str) -> None:
    with pytest.raises(nmt.ConfigError, match="override"):
        nmt.parse_overrides(text)


@NAMED
def test_a_named_config_builds_its_model_and_comes_back_from_its_yaml(
    tmp_path: Path, name: str
) -> None:
    config = nmt.load_config(name)
    assert nmt.load_config(write(tmp_path, config.to_yaml())) == config
    small = nmt.load_config(config, **{f"model.{k}": v for k, v in SMALL.items()})
    keys = nmt.Transformer(small.model, 9, 9).state_dict()
    assert any("bias" in key for key in keys) == (name != "writeup_e")


def test_every_key_has_a_description_that_to_yaml_shows() -> None:
    text = Config().to_yaml()
    for _, section in Config():
        fields = type(section).model_fields if isinstance(section, Section) else {}
        for key, field in fields.items():
            assert field.description, key
            assert re.search(rf"  {key}: .*  # {re.escape(field.description)}\n", text)


@NAMED
def test_every_key_of_a_named_config_has_a_comment(name: str) -> None:
    lines = (CONFIG_FOLDER / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# "), "the first line says what the config is for"
    keys = [line for line in lines if re.match(r"\s*\w+:", line)]
    assert all(re.search(r"\s#\s+\S", line) for line in keys)


def test_the_run_path_is_run_dir_or_named_after_the_config(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for runs, run_dir, path in (
        ("elsewhere", "", Path("elsewhere/tiny")),
        ("elsewhere", "here", Path("here")),
        ("elsewhere", "~/a", tmp_path / "a"),
        ("~/b", "", tmp_path / "b/tiny"),
        ("", "", Path("runs/tiny")),
    ):
        monkeypatch.setenv("NMT_RUNS", runs)
        assert run_path(nmt.load_config("tiny", run_dir=run_dir)) == path
    write(tmp_path, "train: {seed: 7}")
    assert nmt.load_config("~/mine.yaml").train.seed == 7
    (tmp_path / "nmt_lib").mkdir()
    for folder in ("notebooks", "deeper"):
        Path(folder).mkdir()
        monkeypatch.chdir(folder)
        assert run_path(nmt.load_config("tiny")) == tmp_path / "runs" / "tiny"
