"""The training on one page takes the same updates as ``nmt.train``."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib import train_by_hand as page
from nmt_lib.batching import Batch
from nmt_lib.losses import Objective


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The page sets the seed and the number of threads for the whole process."""
    threads, dtype = torch.get_num_threads(), torch.get_default_dtype()
    with torch.random.fork_rng():
        yield
    torch.set_num_threads(threads)
    torch.set_default_dtype(dtype)


def train_twice(folder: Path, n_updates: int) -> tuple[nmt.Translator, nmt.Translator]:
    """The tiny model, trained by the page and by the library."""
    options = {"train.max_steps": n_updates, "train.select": "last"}
    options |= {"train.validate_every": n_updates // 2}
    ours = page.train_by_hand(
        nmt.load_config("tiny", run_dir=str(folder / "page"), **options)
    )
    run = nmt.train("tiny", run_dir=str(folder / "library"), **options)
    return ours, run.translator


def plain_objective(self: Objective, batch: Batch) -> Tensor:
    """The sum of the losses by the plain lines.

    ``nmt.train`` divides it by ``n_tokens``, which in float32 would not always give
    back the mean.
    """
    smoothing = self.label_smoothing if self.training else 0.0
    logits = self.model(batch.src, batch.tgt_in)  # (B, T, V)
    loss = nmt.cross_entropy(logits, batch.tgt_out, smoothing)
    return loss.double() * batch.n_tokens


# Translating halfway switches dropout off, and an epoch has 82 batches.
def test_100_updates_equal_the_librarys_bit_for_bit_with_the_same_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Objective, "forward", plain_objective)
    ours, theirs = train_twice(tmp_path, 100)
    weights = theirs.model.state_dict()
    for name, weight in ours.model.state_dict().items():
        assert torch.equal(weight, weights[name]), name
    sources = [pair.src for pair in nmt.load_corpus(ours.config.data).valid[:8]]
    loaded = nmt.Translator.load(tmp_path / "page")
    expected = [str(translation) for translation in theirs.translate(sources)]
    assert [str(translation) for translation in loaded.translate(sources)] == expected
    halfway, end = capsys.readouterr().out.splitlines()
    assert halfway.startswith("   50 updates, loss ")
    assert end.startswith("  100 updates, loss ")
    assert end.endswith(f": {sources[0]} → {expected[0]}")


def test_updates_equal_the_librarys_with_the_fused_loss(tmp_path: Path) -> None:
    # The fused loss rounds differently. In float32 Adam makes that a difference of 0.03
    # after 100 updates; in float64 it stays so small that any other cause would show.
    torch.set_default_dtype(torch.float64)
    ours, theirs = train_twice(tmp_path, 20)
    for ours_, theirs_ in zip(
        ours.model.parameters(), theirs.model.parameters(), strict=True
    ):
        torch.testing.assert_close(ours_, theirs_, rtol=0, atol=1e-9)


def test_the_page_is_a_page() -> None:
    lines = Path(page.__file__).read_text().splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 88
