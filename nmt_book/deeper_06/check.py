"""The exercise of the deeper page on counting parameters."""

from ..exercise.exercise import exercise

BIASES = "(D * d_ff + d_ff) + (d_ff * D + D)"
FOUR = "4 * (D * D + D)"
TWICE = "2 * V_tgt) + V_tgt"


@exercise(
    "How many numbers does the model learn, nothing tied?",
    cases={
        "the base model": (512, 2048, 6, 6191, 8014),
        "a small model": (8, 40, 2, 100, 70),
        "one layer, more target words": (16, 24, 1, 50, 90),
    },
    mistakes={
        "linear layers have biases": (
            f"{FOUR} → 4 * D * D",
            f"{BIASES} → 2 * D * d_ff",
        ),
        "an embedding has no bias": (
            "D * (V_src + 2 * V_tgt) + V_tgt → (D + 1) * (V_src + 2 * V_tgt)"
        ),
        "linear layers, and the output layer, have biases": (
            f"{FOUR} → 4 * D * D",
            f"{BIASES} → 2 * D * d_ff",
            f"{TWICE} → 2 * V_tgt)",
        ),
        "the output layer has a bias for each target word": f"{TWICE} → 2 * V_tgt)",
        "the output layer is not tied: D · V_tgt once more": "2 * V_tgt → V_tgt",
        "D · V_tgt is needed twice, and a bias: embedding and output layer": (
            f"{TWICE} → V_tgt)"
        ),
        "the output layer writes target words": [
            "V_src + 2 * V_tgt → 2 * V_src + V_tgt",
            "V_src + 2 * V_tgt) + V_tgt → 2 * V_src + V_tgt) + V_src",
            "2 * V_tgt) + V_tgt → 2 * V_tgt) + V_src",
        ],
        "the feed-forward network has biases, too": f"{BIASES} → 2 * D * d_ff",
        "the feed-forward network has two layers, there and back": (
            " + (d_ff * D + D) →"
        ),
        "its inner layer has d_ff biases": "(D * d_ff + d_ff) → D * d_ff",
        "one layer of the feed-forward network has d_ff biases, the other D": [
            "(d_ff * D + D) → (d_ff * D + d_ff)",
            "(D * d_ff + d_ff) → (D * d_ff + D)",
        ],
        "the linear layers of an attention have biases, too": f"{FOUR} → 4 * D * D",
        "an attention has four linear layers: W_o is missing": "4 * ( → 3 * (",
        "each of the four linear layers of an attention has D biases": [
            f"{FOUR} → 4 * D * D + 3 * D",
            f"{FOUR} → 4 * D * D + D",
        ],
        "the width of the feed-forward network is d_ff, not always 4 · D": (
            "ffn = → d_ff = 4 * D\n    ffn ="
        ),
        "a decoder layer has two attentions": "3 * att → 2 * att",
        "a decoder layer has two attentions and three norms": (
            "3 * att → 2 * att",
            "5 * norm → 4 * norm",
        ),
        "only the decoder has a second attention": "3 * att → 4 * att",
        "each side has a feed-forward network in each layer": "2 * ffn → ffn",
        "2 · N · D are missing: the third norm of the decoder layers, or the last bias "
        "of both feed-forward networks": [
            "5 * norm → 4 * norm",
            "(d_ff * D + D) → d_ff * D",
        ],
        "norms are missing: two in an encoder layer, three in a decoder layer": (
            " + 5 * norm →"
        ),
        "an encoder layer has two norms, a decoder layer three": "5 * n → 6 * n",
        "a norm has a gain and a bias": "2 * D\n → D\n",
        "there are N layers on each side": "N * ( → (",
        "the positions are sines: nothing of them is learnt": [
            f"return layers → return layers + {n} * D" for n in (512, 1024, 5000, 10000)
        ],
        "the paper's layers end in a norm: there is no final one": [
            "return layers → return layers + 2 * norm",
            "return layers → return layers + norm",
        ],
        "embeddings are missing, or the output layer: D · V_src and twice D · V_tgt": [
            "V_src + 2 * V_tgt → 2 * V_tgt",
            "D * (V_src + 2 * V_tgt) → D * V_tgt",
            "D * (V_src + 2 * V_tgt) + V_tgt → 0",
        ],
    },
    hints=(
        "Write a line for one attention, one for one feed-forward network, one for a "
        "norm. How many of each has a layer of the encoder, and one of the decoder?",
        "`attention = 4 * (D * D + D)`. Both layers together have 3 attentions, 2 "
        "feed-forward networks and 5 norms.",
    ),
    says="55,522,638 of them, and as many as the library's models of other sizes",
    difficulty=2,
    importance=1,
    minutes=10,
    part="all_parameters",
)
def all_parameters(D, d_ff, N, V_src, V_tgt):
    attention = 4 * (D * D + D)
    ffn = (D * d_ff + d_ff) + (d_ff * D + D)
    norm = 2 * D
    layers = N * (3 * attention + 2 * ffn + 5 * norm)
    return layers + D * (V_src + 2 * V_tgt) + V_tgt
