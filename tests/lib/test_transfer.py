"""A run that begins with another model's weights."""

import shutil
from pathlib import Path

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.config import DataConfig
from nmt_lib.data.tokenizers import WordTokenizer
from nmt_lib.data.tokens import UNK
from nmt_lib.training import transfer
from nmt_lib.training.model_file import load
from tests.lib.small import SMALL, rows, small_model, small_run

STEPS = 4


OPTIONS = f"""data.src_lang=de data.tgt_lang=en data.vocab_size=50 train.lr=1e-9
 train.max_steps={STEPS} train.checkpoint_every=2 train.select=last """
OPTIONS += " ".join(f"model.{key}={value}" for key, value in SMALL.items())


def config_of(folder: Path, name: str, options: str = "") -> nmt.Config:
    return small_run(folder, f"{OPTIONS} {options}", name, "pair")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run, whose weights are far from those drawn."""
    folder = tmp_path_factory.mktemp("transfer")
    run = nmt.train(config_of(folder, "first"))
    translator = run.translator
    with torch.no_grad():
        for weight in translator.model.parameters():
            weight.add_(1.0)
    translator.save(folder / "moved.safetensors")
    return folder


@pytest.mark.parametrize("size", [50, 40])
def test_a_run_begins_with_the_weights_of_another_for_its_own_subwords(
    first: Path, size: int, tmp_path: Path
) -> None:
    """They are still there after updates with almost no learning rate."""
    file, other_text = first / "moved.safetensors", tmp_path / "corpus"
    shutil.copytree(first / "corpus", other_text)
    (other_text / "train.de").write_text("ich\n" * 18)
    options = f"train.init_from={file} data.vocab_size={size} data.corpus={other_text}"
    run, other = nmt.train(config_of(first, f"of {size}", options)), load(file)
    same = run.tokenizers[0].dumps() == other.tokenizers[0].dumps()
    assert same == (size == other.config.data.vocab_size)
    weights = transfer.transfer_weights(other.weights, other.tokenizers, run.tokenizers)
    assert same == (len(weights["output.bias"]) == len(other.weights["output.bias"]))
    found = dict(run.model.named_parameters())
    ours = {name: weights[name] for name in found}
    torch.testing.assert_close(found, ours, atol=1e-3, rtol=0)


def test_a_subword_gets_its_vector_or_the_mean_of_its_parts() -> None:
    data = DataConfig(tokenizer="bpe", joint=True, vocab_size=14)
    old, new = (
        nmt.build_tokenizers(data, [nmt.Pair(words, words)] * 9)
        for words in ("abc ab ab abcd", "bcd bc bc bcda")
    )
    size = len(old[1])
    weights = dict(small_model(0, size, size, tying="three-way").named_parameters())
    found = transfer.transfer_weights(weights, old, new)
    known, wanted = (one.lookup_tokens(range(len(one))) for one in (old[1], new[1]))
    rows = [
        [known.index(piece)] if piece in known else old[1].ids(piece.strip("▁"))
        for piece in wanted
    ]
    assert max(map(len, rows)) > 1
    for name in ("src_embedding.lookup.weight", "output.bias"):
        means = torch.stack([weights[name][parts].mean(0) for parts in rows])
        torch.testing.assert_close(found[name], means)


def test_a_run_that_was_cut_off_resumes_without_the_other_model(
    first: Path, tmp_path: Path
) -> None:
    file = shutil.copy(first / "moved.safetensors", tmp_path / "other.safetensors")
    options = f"train.init_from={file} train.lr=0.01"
    whole = nmt.train(config_of(tmp_path, "whole", options))
    config = config_of(tmp_path, "cut", options)
    nmt.train(config)
    for name in ("model", f"checkpoints/step-{STEPS:08d}"):  # as if it had been killed
        (tmp_path / f"cut/{name}.safetensors").unlink()
    Path(file).unlink()
    resumed = nmt.train(config)
    for a, b in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_two_vocabularies_and_a_subword_that_is_cut_into_nothing() -> None:
    def words(*some: str) -> WordTokenizer:
        return WordTokenizer.train("whitespace", "en", some, 1, False)

    old = words("a b"), words("c d e")
    new = words("b ▁ x"), words("e c")  # "▁" leaves nothing to look up
    model = small_model(0, 6, 7)
    weights = dict(model.named_parameters())
    found = transfer.transfer_weights(weights, old, new)
    src, tgt = "src_embedding.lookup.weight", "tgt_embedding.lookup.weight"
    ids = [old[0].ids(word) for word in ("b", "", "x")]
    assert ids == [[5], [], [UNK]]
    expected = weights[src][[0, 1, 2, 3, 5, UNK, UNK]]
    assert torch.equal(found[src], expected)
    for name in (tgt, "output.weight", "output.bias"):
        assert torch.equal(found[name], weights[name][[0, 1, 2, 3, 4, 6]])


REFUSED = r"""
nowhere | train.init_from: no trained model in nowhere
multi30k-en-fr | another shape: set model.d_model=128 model.n_layers=4.* model.d_ff=256
'' | train.init_from
"""


@pytest.mark.parametrize(("model", "message"), rows(REFUSED))
def test_what_cannot_be_begun_with_is_a_config_error(
    model: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(nmt.ConfigError, match=message) as caught:
        nmt.train(config_of(tmp_path, "run", f"train.init_from={model}"))
    assert "\n" not in str(caught.value)


def test_keys_that_mean_the_same_shape_are_no_difference(tmp_path: Path) -> None:
    """null and its value; dropout is free."""
    same = "model.final_norm=true model.d_value=32 model.n_decoder_layers=4"
    other = "train.init_from=multi30k-en-fr model.dropout=0.4 data.vocab_size=30"
    config = nmt.load_config("pair", **nmt.parse_overrides(f"{same} {other}"))
    pairs = [nmt.Pair("a dog runs", "un chien court")] * 3
    tokenizers, weights = transfer.start_from_model(config, pairs)
    assert weights and len(weights["output.bias"]) == len(tokenizers[1])


def test_a_saved_translator_does_not_name_the_user(
    first: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(first))
    config = config_of(first, "a", f"train.init_from={first}/x.safetensors")
    translator = nmt.Translator.load(first / "moved.safetensors")
    translator.config = config
    translator.save("~/out.safetensors")
    saved = load(first / "out.safetensors").config
    assert str(first) not in saved.model_dump_json()
    assert (saved.data.corpus, saved.train.init_from) == ("~/corpus", "~/x.safetensors")
    assert nmt.load_corpus(saved.data).train  # here, it is still found
