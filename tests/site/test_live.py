"""The browser's translator, run in Node, does what Python's does."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib import model_file
from nmt_lib.special import SPECIALS
from nmt_lib.tokenizers import SentencePieceTokenizer, Tokenizer, WordTokenizer
from nmt_lib.translator import PRETRAINED
from nmt_lib.vocab import Vocab
from tests.lib.small import small_model, small_translator
from tests.site import live_equal as live
from tests.site.chromium import ROOT

pytestmark = pytest.mark.skipif(
    not shutil.which("node"), reason="no Node on this machine (apt-get install nodejs)"
)
TEXTS = ["ich sehe qwertz", "du", "", "wir mochte ein bier <eos> der hund haus cola"]
CAPTIONS = {
    "en": ["A ﬁreman in a blue coat 🙂 waves!", "Two dogs."],
    "de": ["Ein Mann (ﬂeißig) liest 🙂 Zeitung!", "Zwei Hunde."],
}
UNUSUAL: dict[str, Any] = {
    "norm": "pre",
    "final_norm": False,
    "tying": "target",
    "bias": False,
    "norm_bias": False,
    "d_value": 3,
    "n_decoder_layers": 3,
    "scale_embeddings": False,
}


def answers(file: Path, jobs: list[live.Job]) -> list[dict[str, Any]]:
    """The answers in Node, which are all equal to Python's."""
    translator = nmt.Translator.load(file, device="cpu")
    found = live.node(ROOT / live.SCRIPT, file, jobs)
    wanted = live.expected(translator, jobs)
    for job, answer, translation in zip(jobs, found, wanted, strict=True):
        assert not live.token_difference(translator, job, answer, translation)
        if job.get("maps") and job["text"]:
            assert live.weight_difference(answer, translation) < 1e-3
    return found


def save(file: Path, src: Tokenizer, tgt: Tokenizer) -> Path:
    """A random model with these tokenizers."""
    model, config = small_model(0, len(src), len(tgt)), small_translator().config
    nmt.Translator(model, src, tgt, config).save(file)
    return file


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ({}, torch.float32),
        ({"norm": "pre"}, torch.float16),
        (UNUSUAL, torch.bfloat16),
    ],
)
def test_any_model_translates_as_in_python(
    options: dict[str, Any], dtype: torch.dtype, tmp_path: Path
) -> None:
    file = tmp_path / "model.safetensors"
    small_translator(3, src_specials=dtype != torch.float16, **options).save(file)
    saved = model_file.load(file)
    tensors = {name: value.to(dtype) for name, value in saved.tensors.items()}
    model_file.save(file, saved._replace(tensors=tensors))
    head = [["cross", 1, 2, None]]
    word = [[kind, None, None, 1] for kind in ("encoder", "cross")]
    ways: list[dict[str, Any]] = [{"maps": True}, {"beamSize": 3}]
    ways += [{"closed": cells, "maps": True} for cells in (head, word, head + word)]
    ways += [{"closed": [["decoder", 0, None, None]], "maps": True}]
    found = answers(file, [{"text": text, **way} for way in ways for text in TEXTS])
    assert len({str(answer["maps"]) for answer in found}) > len(TEXTS)


@pytest.mark.parametrize("name", nmt.Translator.pretrained())
def test_the_models_of_the_page(name: str) -> None:
    texts = CAPTIONS[name.split("-")[1]]
    jobs = [{"text": texts[0], "maps": True}, {"text": texts[1], "beamSize": 3}]
    answers(PRETRAINED / name / "model.safetensors", jobs)


def test_the_beam_is_the_same_tree(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    translator = small_translator(1, decode={"length_penalty": 1.4})
    translator.save(file)
    (found,) = answers(file, [{"text": TEXTS[0], "beamSize": 3}])
    trace: list[nmt.Candidate] = []
    src = torch.tensor([translator.encode(TEXTS[0])])
    nmt.beam_search(translator.model, src, 3, 1.4, 6, trace=trace)
    keys = ("step", "prefix", "id", "fate")
    tree = [(c.step, list(c.prefix), c.token, c.fate) for c in trace]
    assert [tuple(c[key] for key in keys) for c in found["trace"]] == tree
    log_probs = [c["logProb"] for c in found["trace"]]
    assert log_probs == pytest.approx([c.log_prob for c in trace], abs=1e-4)


@pytest.mark.parametrize("beam", [1, 3])
def test_it_goes_on_from_any_word(beam: int, tmp_path: Path) -> None:
    file, prefix = tmp_path / "model.safetensors", [7, 7, 12]
    translator = small_translator(1)
    translator.save(file)
    job = {"text": TEXTS[0], "beamSize": beam, "prefix": prefix, "closed": None}
    (found,) = live.node(ROOT / live.SCRIPT, file, [job])
    ids = found["ids"]
    assert ids[:3] == prefix and ids[-1] == nmt.EOS
    src = torch.tensor([translator.encode(TEXTS[0])])
    tgt_in = torch.tensor([[nmt.SOS, *ids[:-1]]])
    log_probs = translator.model(src, tgt_in)[0].log_softmax(-1)  # (T, V)
    wanted = log_probs[torch.arange(len(ids)), ids].tolist()
    assert found["logProbs"] == pytest.approx(wanted, abs=1e-4)
    log_probs[:, [nmt.PAD, nmt.SOS]] = -torch.inf
    if beam == 1:
        assert ids[3:] == log_probs.argmax(-1).tolist()[3:]
    for choices, row in zip(found["steps"], log_probs.exp(), strict=True):
        assert [c["id"] for c in choices] == row.topk(8).indices.tolist()
        p = row.topk(8).values.tolist()
        assert [c["p"] for c in choices] == pytest.approx(p, rel=1e-5)


@pytest.mark.filterwarnings("ignore:a text of:UserWarning")
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_subwords_of_any_text(kind: str, tmp_path: Path) -> None:
    lines = Path("README.md").read_text(encoding="utf-8").splitlines()
    tokenizer = SentencePieceTokenizer.train(kind, lines, 400, 1.0, lowercase=True)
    file = save(tmp_path / "model.safetensors", tokenizer, tokenizer)
    short = [text for text in live.ODD if len(text) < 100]
    texts = [*lines, *live.ODD, *live.random_texts(100)]
    jobs: list[live.Job] = [{"text": text, "encode": True} for text in texts]
    answers(file, jobs + [{"text": text} for text in short])


def test_words_of_the_tiny_corpus(tmp_path: Path) -> None:
    pairs = nmt.load_corpus(nmt.load_config("tiny").data).train[:400]
    src = WordTokenizer.train("spacy", "en", [p.src for p in pairs[:300]], 1, False)
    words = Vocab([*SPECIALS, "Un", "l'", "d'", "est", "-", "-il", ",", "!", "(", '"'])
    file = tmp_path / "model.safetensors"
    save(file, src, WordTokenizer("spacy", "fr", words))
    texts = [pair.src for pair in pairs] + ["He didn't (see) it!", "...", "<eos>"]
    jobs: list[live.Job] = [{"text": text, "encode": True} for text in texts]
    answers(file, jobs + [{"text": text} for text in texts[-9:]])


def test_a_file_that_is_cut_off_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    small_translator().save(file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(RuntimeError, match="the model file is cut off"):
        live.node(ROOT / live.SCRIPT, file, [])
