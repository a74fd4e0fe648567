"""Configs: every mistake is named before anything runs."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import nmt_lib as nmt
from nmt_lib.configs.reading import FOLDER, Config


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("train.sed", "train.seed"),
        ("model.dmodel", "model.d_model"),
        ("d_model", "model.d_model"),
        ("trian.seed", "train"),
        ("data.source_lang", "data.src_lang"),
        ("nam", "name"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_valid_one(
    key: str, nearest: str
) -> None:
    with pytest.raises(
        nmt.ConfigError,
        match=rf"unknown key '{key.removesuffix('.seed')}'.*did you mean '{nearest}'",
    ):
        nmt.load_config("tiny", **{key: 1})


def test_an_unknown_key_in_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.ConfigError,
        match=r"unknown key 'model.n_head' in mine.yaml .did you mean 'model.n_heads'",
    ):
        nmt.load_config(write(tmp_path, "model:\n  n_head: 4\n"))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("train.seed", "1"),
        ("train.seed", 1.5),
        ("train.seed", True),
        ("train.seed", -1),
        ("train.seed", 2**70),
        ("train.lr", "fast"),
        ("train.lr", True),
        ("train.lr", float("nan")),
        ("train.lr", float("inf")),
        ("train.lr", 0),
        ("train.betas", [0.9]),
        ("train.betas", [0.9, 1.5]),
        ("train.betas", ["0.9", "0.98"]),
        ("train.max_steps", 0),
        ("model.dropout", 1.0),
        ("model.n_layers", 0),
        ("model.norm", "middle"),
        ("data.lowercase", "yes"),
        ("data.lowercase", 1),
        ("data.corpus", 3),
        ("data.corpus", ""),
        ("data.src_lang", "xx"),
        ("decode.beam_size", 0),
        ("run_dir", None),
        ("name", ""),
    ],
)
def test_a_wrong_type_or_value_is_named_with_its_key(key: str, value: Any) -> None:
    with pytest.raises(nmt.ConfigError, match=re.escape(key)):
        nmt.load_config("tiny", **{key: value})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"model.d_model": 30}, "d_model=30 is not divisible by model.n_heads=4"),
        ({"model.d_model": 33, "model.n_heads": 3}, "must be even .*33"),
        ({"data.src_lang": "fr"}, "both 'fr'"),
        ({"model.tying": "three-way"}, "needs data.joint=true"),
        (
            {"data.bpe_dropout": 0.1, "data.tokenizer": "spacy"},
            "'spacy' has none: use tokenizer=bpe",
        ),
        (
            {"data.bpe_dropout": 0.1, "data.tokenizer": "unigram"},
            "'unigram' has none: use tokenizer=bpe",
        ),
        ({"data.bpe_dropout": 1.0, "data.tokenizer": "bpe"}, "data.bpe_dropout"),
        ({"data.joint": True, "data.tokenizer": "spacy"}, "needs pieces"),
        ({"train": 3}, "train must be a section of keys and values"),
        ({"data": None}, "data must be a section of keys and values"),
        ({"train.seed.low": 3}, "'seed' is a single value"),
    ],
)
def test_values_that_do_not_fit_together_are_explained(
    overrides: dict[str, Any], message: str
) -> None:
    with pytest.raises(nmt.ConfigError, match=message):
        nmt.load_config("tiny", **overrides)


def test_an_unknown_name_lists_all_names() -> None:
    with pytest.raises(nmt.ConfigError) as error:
        nmt.load_config("tinny")
    assert "did you mean 'tiny'" in str(error.value)
    assert all(name in str(error.value) for name in nmt.config_names())


def test_a_missing_file_is_named() -> None:
    with pytest.raises(nmt.ConfigError, match=r"no config file nowhere.yaml.*tiny"):
        nmt.load_config("nowhere.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: [1\nfoo", "not valid YAML"),
        ("train:\n\tseed: 1\n", "not valid YAML.*line 2"),
        (b"\xff\xfe\x00", "not UTF-8 at byte 0"),
        ("- 1\n", "must hold keys and values, not a list"),
        ("train: {seed: 1}\ntrain: {lr: 0.1}\n", "'train' stands there twice"),
        ("name: 2024-13-45\n", "not valid YAML"),
        ("!!python/object/apply:os.getcwd []\n", "not valid YAML"),
        ("train:\n", "train must be a section of keys and values"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    with pytest.raises(nmt.ConfigError, match=message):
        nmt.load_config(write(tmp_path, text))


NESTED = (
    "".join(
        f"k{i}: &k{i} [{', '.join([f'*k{i - 1}' if i else 'x'] * 9)}]\n"
        for i in range(9)
    )
    + "name: *k8\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[
            (f"data: {{joint: !!{tag}}}", "not valid YAML")
            for tag in ("bool maybe", "int ''", "timestamp x", "map [a]")
        ],
        (NESTED, "alias: write its value"),
        ("train: &t {seed: 1}\ndecode: *t\n", "alias"),
        ("name: " + "[" * 3000, "not valid YAML"),
        ("? [a]\n: b\n", "not valid YAML"),
        (f"train: {{seed: {'9' * 5000}}}", "not valid YAML"),
        (f"train: {{seed: 0x{'f' * 5000}}}", "train.seed: .* got a huge number"),
        ("false\n", "must hold keys and values, not a bool"),
        ('name: "a\\0b"\n', "name: .*got"),
        ("name: 5\ndata: {src_lang: fr, tgt_lang: en}\n", "name: .*valid string"),
        ("# " + "x" * 200_000, "more than 100,000 bytes"),
        (f"model: {{norm: {'x' * 9000}}}", "model.norm: .*x…$"),
    ],
)
def test_a_file_made_to_be_misread_gets_one_short_line(
    tmp_path: Path, text: str, message: str
) -> None:
    for overrides in ({}, {"data.tgt_lang": "de"}):
        with pytest.raises(nmt.ConfigError, match=message) as caught:
            nmt.load_config(write(tmp_path, text), **overrides)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 500


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    for name in ("pipe.yaml", "zero.yaml", "x" * 300 + ".yaml", "a\0b.yaml"):
        with pytest.raises(nmt.ConfigError, match="no config file"):
            nmt.load_config(tmp_path / name)


# Every number in the config, with values that no run can have: read, and where the schema lets it pass, trained.
ABSURD = """
import resource, sys
import nmt_lib as nmt
from nmt_lib.configs.reading import KEYS
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
default = nmt.load_config("tiny").model_dump()
optional = ["model.n_decoder_layers", "model.d_value", "model.embedding_dropout",
            "data.limit", "train.clip_norm", "train.threads"]
for key in KEYS:
    section, _, name = key.partition(".")
    if key in optional or name and type(default[section][name]) in (int, float):
        for value in (-1, 10**12, 2**63, 10**400, float("nan"), float("inf"), "", True, [], {}, "1"):
            try:
                config = nmt.load_config("tiny", **{key: value})
            except nmt.ConfigError as error:
                assert key in str(error) and len(str(error)) < 300, error
            else:
                print(key, value)
"""


def test_no_number_may_be_absurd() -> None:
    command, options = (
        [sys.executable, "-c", ABSURD],
        {"capture_output": True, "text": True, "timeout": 300},
    )
    done = subprocess.run(command, check=False, **options)  # type: ignore[call-overload]
    accepted = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-2000:]
    assert accepted == ["data.limit 1000000000000"], (
        "more pairs than there are is all pairs"
    )


@pytest.mark.parametrize(
    "options",
    [
        {"d_model": 65_536, "n_heads": 1024},
        {"n_layers": 1000, "d_model": 16_384},
        {"n_decoder_layers": 1000, "d_ff": 200_000, "d_model": 8192},
    ],
)
def test_a_model_that_cannot_fit_is_refused_with_an_estimate(
    options: dict[str, int], tmp_path: Path
) -> None:
    config = nmt.load_config(
        "tiny",
        run_dir=str(tmp_path / "run"),
        **{f"model.{k}": v for k, v in options.items()},
    )
    for make in (
        lambda: nmt.build_model(config.model, 9, 9),
        lambda: nmt.train(config),
    ):
        with pytest.raises(
            nmt.ConfigError,
            match=rf"model.d_model={config.model.d_model}, .* need about [\d,]+ GB",
        ):
            make()  # type: ignore[no-untyped-call]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", nmt.config_names())
def test_the_estimate_is_about_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory is said to be what the weights take, a little more, a little less: allowed and refused."""
    config = nmt.load_config(name).model.model_copy(update={"max_positions": 2})
    weights = 4 * nmt.count_parameters(
        nmt.build_model(config.model_copy(update={"tying": "none"}), 5000, 5000)
    )
    for share, fits in ((1.1, True), (0.9, False)):
        monkeypatch.setattr(
            os,
            "sysconf",
            lambda key, share=share: int(share * weights) if "PHYS" in key else 1,
        )
        if fits:
            config.check_memory(15_000)
        else:
            with pytest.raises(nmt.ConfigError, match="would need"):
                config.check_memory(15_000)


def test_a_file_states_only_what_differs_from_the_defaults(tmp_path: Path) -> None:
    config = nmt.load_config(write(tmp_path, "train: {lr: 1e-4}\n"))
    assert config.name == "mine"
    assert config.train.lr == 1e-4  # YAML 1.1 would read the text "1e-4"
    assert config.model == Config().model


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert nmt.load_config(write(tmp_path, "")).train == Config().train


def test_overrides_win_over_the_file_and_leave_the_rest() -> None:
    config = nmt.load_config(
        "tiny", **{"train.seed": 7, "name": "other", "train.betas": [0.8, 0.9]}
    )
    assert (config.train.seed, config.name, config.train.betas) == (
        7,
        "other",
        (0.8, 0.9),
    )
    assert config.model == nmt.load_config("tiny").model


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("train.seed=1 data.tgt_lang=fr", {"train.seed": 1, "data.tgt_lang": "fr"}),
        ("train.lr=1e-4", {"train.lr": 1e-4}),
        (
            "train.betas=[0.9, 0.98]  train.seed=2",
            {"train.betas": [0.9, 0.98], "train.seed": 2},
        ),
        (
            "run_dir=/a folder/with spaces train.seed=2",
            {"run_dir": "/a folder/with spaces", "train.seed": 2},
        ),
        (
            "data.lowercase=true data.limit=null",
            {"data.lowercase": True, "data.limit": None},
        ),
        ("  ", {}),
    ],
)
def test_overrides_as_text(text: str, values: dict[str, Any]) -> None:
    assert nmt.parse_overrides(text) == values


@pytest.mark.parametrize(
    "text", ["train.seed", "=1", "train.seed 1", "train.betas=[1", "train.seed={"]
)
def test_overrides_that_are_no_key_and_value_are_errors(text: str) -> None:
    with pytest.raises(nmt.ConfigError, match="override"):
        nmt.parse_overrides(text)


@pytest.mark.parametrize("name", nmt.config_names())
def test_a_named_config_comes_back_equal_from_its_yaml(
    tmp_path: Path, name: str
) -> None:
    config = nmt.load_config(name)
    assert nmt.load_config(write(tmp_path, config.to_yaml())) == config


@settings(max_examples=40, deadline=None)
@given(
    name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    lr=st.floats(1e-12, 1e6),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_value_comes_back_equal_from_yaml(
    tmp_path_factory: Any, name: str, lr: float, seed: int
) -> None:
    values = {"name": name, "run_dir": name, "train.lr": lr, "train.seed": seed}
    config = nmt.load_config("tiny", **values)
    assert (
        nmt.load_config(write(tmp_path_factory.mktemp("yaml"), config.to_yaml()))
        == config
    )


@pytest.mark.parametrize(
    "text", ["1e4", "12E3", "on", "null", "2024-01-01", "0x10", "- a", "a: b", "#"]
)
def test_text_that_looks_like_something_else_stays_text(
    tmp_path: Path, text: str
) -> None:
    config = nmt.load_config("tiny", run_dir=text)
    assert nmt.load_config(write(tmp_path, config.to_yaml())).run_dir == text


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_key_of_a_named_config_has_a_comment(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# "), "the first line says what the config is for"
    assert not [
        line
        for line in lines
        if re.match(r"\s*\w+:", line) and not re.search(r"\s#\s+\S", line)
    ]


def test_the_names_the_project_promises_are_there() -> None:
    assert {"tiny", "toy", "multi30k", "writeup_c"} <= set(nmt.config_names())


def test_the_run_path_is_the_folder_asked_for_or_named_after_the_config(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NMT_RUNS", raising=False)
    assert nmt.load_config("tiny").run_path == Path("runs/tiny")
    assert nmt.load_config("tiny", run_dir="here").run_path == Path("here")
    monkeypatch.setenv("NMT_RUNS", "elsewhere")
    assert nmt.load_config("tiny").run_path == Path("elsewhere/tiny")


def test_the_yaml_of_a_config_is_plain_yaml() -> None:
    assert yaml.safe_load(nmt.load_config("tiny").to_yaml())["data"]["corpus"] == "tiny"


def test_write_up_e_has_no_bias_and_the_paper_has_one_in_every_layer() -> None:
    biases = {
        name: [
            key
            for key, _ in nmt.build_model(
                nmt.load_config(name).model, 9, 9
            ).named_parameters()
            if "bias" in key
        ]
        for name in ("writeup_e", "toy")
    }
    assert biases["writeup_e"] == [] and len(biases["toy"]) > 10
