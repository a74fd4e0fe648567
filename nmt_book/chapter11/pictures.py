"""What chapter 11 found in five write-ups: their own lines, and the harm they did."""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from nmt_lib.translate.heatmap import new_figure

from ..web import Html

HARM = {  # verdict → colour
    "much": "#b2182b",
    "some": "#ef8a62",
    "open": "#fee090",
    "dormant": "#92c5de",
    "none": "#d9d9d9",
}
ARTICLES = {  # where one can be read; we know no lasting address of C and E
    "A": "https://songstudio.info/tech/tech-25/",
    "B": "https://machinelearnit.com/2018/09/24/817/",
    "D": "https://blog.floydhub.com/the-transformer-in-pytorch/",
}


LEFT = "text-align: left; padding: 3px 8px"


class Defect(NamedTuple):
    what: str
    lines: dict[str, str]  # who → the article's own line, or lines, between |
    measured: str


OF_B_AND_D = "math.sin(pos / (10000 ** ((2 * i)/d_model)))"
NORM = "/ (x.std(dim=-1, keepdim=True) + self.eps) + self.bias"
HIDDEN = "scores = scores.masked_fill(mask == 0, -1e9)"
DEFECTS = {  # verdict → what, the lines of each who has it, what was measured
    "much": [
        Defect(
            "code that Python cannot read",
            {
                "D": "trg_mask = np.triu(np.ones((1, i, i), | k=1).astype('uint8')",
            },
            "SyntaxError: a bracket is never closed",
        ),
        Defect(
            "names that nobody defines",
            {
                "B": "self.layers = get_clones(EncoderLayer(d_model, heads, dropout), "
                "N) | pe = Variable(self.pe[:,:seq_len], requires_grad=False)",
                "D": "results, ignore_index=target_pad) | if custom_sentence == True:",
            },
            "NameError",
        ),
        Defect(
            "a mask of the wrong arguments",
            {"D": "nopeak_mask = np.triu(np.ones(1, size, size),"},
            "TypeError",
        ),
    ],
    "some": [
        Defect(
            "every sentence padded to one length",
            {"A": "left = seq_len - len(tokenized_text)"},
            "at 200: 18.7 positions a token, not 1.5",
        ),
        Defect(
            "whole prefix again at each step",
            {
                "A": "trg_embedded = self.model.trg_embedding(outputs.unsqueeze(0))",
                "C": "tgt_input = torch.cat((tgt_input, pred.unsqueeze(0)), dim=-1)",
                "D": "out = model.out(model.decoder(outputs[:i].unsqueeze(0),",
                "E": "dec_outputs, _, _ = model.decoder(dec_input, enc_input, "
                "enc_outputs)",
            },
            "(T + 1) / 2 times the positions; A: seq_len at each step",
        ),
        Defect(
            "validation loss is smoothed",
            {"C": "avg_loss = evaluation(model, val_dataloader, loss_fn, device)"},
            "ours: perplexity 2.6 instead of 1.1",
        ),
        Defect(
            "prints the loss of the last batch",
            {
                "C": "dataloader.set_postfix({'training loss': f'{loss.item():8.4f}'})",
            },
            "8 sentences of 29,000",
        ),
        Defect(
            "never calls eval()",
            {
                "E": "greedy_dec_input = greedy_decoder(model, enc_inputs[i].view(1, "
                '-1), start_symbol=tgt_vocab["S"])',
            },
            "of 200 right: 0 to 2 less; one layer: 11 to 14 less",
        ),
        Defect(
            "tested on its training sentences",
            {"E": "enc_inputs, _, _ = next(iter(loader))"},
            "by reading: shows memory only",
        ),
        Defect(
            "<sos> in front of each translation",
            {"D": "[FR_TEXT.vocab.itos[ix] for ix in outputs[:i]]"},
            "a perfect one: BLEU 71 (9 words), 90 (30)",
        ),
    ],
    "open": [
        Defect(
            "exponent of the positions doubled",
            {
                "A": "pe_matrix[pos, i] = math.sin(pos / (10000 ** (2 * i / d_model)))",
                "B": OF_B_AND_D,
                "D": OF_B_AND_D,
            },
            "width 64: loss 14 to 29 % higher",
        ),
        Defect(
            "LayerNorm created in each forward",
            {"E": "return nn.LayerNorm(d_model).cuda()(output + residual), attn"},
            "loss 0.01 to 0.04 higher, four of four",
        ),
        Defect(
            "chosen on the training loss",
            {"A": "if mean_train_loss < best_loss:"},
            "loss 0.2 to 0.3 higher, BLEU no lower",
        ),
        Defect(
            "no <eos> on the source in use",
            {
                "A": "tokenized_list.append(add_padding(tokenized + [eos_id])) | "
                "src_data = torch.LongTensor(add_padding(tokenized))"
                ".unsqueeze(0).to(device)",
            },
            "with a full stop 0 to 5 of 200 lost; without, 1 to 51",
        ),
    ],
    "dormant": [
        Defect(
            "table of positions too short",
            {
                "A": "x = x + self.positional_encoding",
                "B": "def __init__(self, d_model, max_seq_len = 200, dropout = 0.1):",
                "C": "max_seq_length = get_max_length([tokenized_train_ds, "
                "tokenized_val_ds, tokenized_test_ds]) | def translate(sample, "
                "max_gen_length=50):",
                "D": "def __init__(self, d_model, max_seq_len = 80):",
            },
            "crashes beyond its last row",
        ),
        Defect(
            "−1e9 or −1e10 in the mask",
            {
                "A": "self.inf = 1e9",
                "B": HIDDEN,
                "C": "scores = scores.masked_fill(mask==0, value=-1e10)",
                "D": HIDDEN,
                "E": "scores.masked_fill_(attn_mask, -1e9)",
            },
            "error or NaN in float16",
        ),
        Defect(
            "post-LN, Adam, no warm-up",
            {
                "C": "optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, "
                "eps=1e-9)",
            },
            "stalls at 10 × the rate",
        ),
        Defect(
            "dropout not passed on",
            {
                "D": "self.attn = MultiHeadAttention(heads, d_model) | self.ff = "
                "FeedForward(d_model)",
            },
            "asked 0.3, half of it is 0.1",
        ),
        Defect(
            "a global name in the encoder",
            {"D": "for i in range(N):"},
            "NameError, unless N is global",
        ),
        Defect(
            "crashes without dropout",
            {"C": "attentions = dropout(attention_weights)"},
            "UnboundLocalError",
        ),
        Defect(
            "stops only at “.”",
            {"E": 'if next_symbol == tgt_vocab["."]:'},
            "by reading: cuts off, or never ends",
        ),
        Defect(
            ".cuda() written in",
            {
                "D": "requires_grad=False).cuda()",
                "E": "model = Transformer().cuda()",
            },
            "by reading: stops without a GPU",
        ),
    ],
    "none": [
        Defect(
            "norm divides by (unbiased std + ε)",
            {"B": NORM, "D": NORM},
            "0.1 % at width 512; a gain undoes it",
        ),
        Defect(
            "loss is a mean of batch means",
            {"C": "return total_loss / len(dataloader)"},
            "0.059; by tokens 0.059",
        ),
        Defect(
            "a result that is thrown away",
            {"B": "pe.cuda()"},
            "the table moves with the model anyway",
        ),
        Defect(
            "slips of the text",
            {
                "A": "Although this is not exactly mentioned in the paper | I added "
                "additional layer normalization layers and dropouts, which are not "
                "mentioned in the paper.",
                "B": "hence the rest is padded. This can no longer be computed in a "
                "parallel fashion. | each layer employs residual connections and a "
                "normalization layer that follows them",
                "C": "the values from the paper are: dim_value=512, n_heads=8",
                "D": "V, K and Q stand for ‘key’, ‘value’ and ‘query’.",
                "E": "E: Symbol that shows starting of decoding output | In this "
                "example it is 'S' which corresponds to index 4 | would return [False, "
                "False, False, False, False, True]",
            },
            "A: √d is in section 3.4 of the paper, the dropout after each sub-layer in "
            "5.4; A's other dropouts and last norm are not. B: masked, parallel in "
            "training, norm first. C: 64. "
            "D: V is the value. E: E ends a sentence, S is 6, five ids give five",
        ),
    ],
}


def plot_defects() -> Figure:
    """A row for each defect: what, and a coloured cell for each who has it."""
    figure, (axis,) = new_figure(size=(5.2, 7.4))
    y = 0.0
    style: Any = {"ha": "center", "va": "center", "weight": "bold"}
    for verdict, defects in DEFECTS.items():
        middle = y + (len(defects) - 1) / 2
        axis.text(-10.4, middle, verdict, rotation=90, **style)
        for what, lines, _ in defects:
            axis.text(-0.8, y, what, ha="right", va="center", parse_math=False)
            for x, letter in enumerate("ABCDE"):
                shade = HARM[verdict] if letter in lines else "#f7f7f7"
                axis.barh(y, 0.9, 0.86, left=x - 0.45, color=shade)
            y += 1
        y += 0.6
    for x, letter in enumerate("ABCDE"):
        axis.text(x, -1.1, letter, **style)
    axis.set(xlim=(-10.8, 4.7), ylim=(y - 0.4, -1.8))
    axis.axis("off")
    return figure


def show_defects() -> Html:
    """The same as a table, with the lines of the articles as their authors wrote them.

    A letter is a link to the article, if we know its address.
    """
    rows = ""
    for verdict, defects in DEFECTS.items():
        for what, lines, measured in defects:
            cells = verdict, escape(what), _quoted(lines), escape(measured)
            styles = f"border-left: 6px solid {HARM[verdict]}; {LEFT}", LEFT, LEFT, LEFT
            pairs = zip(styles, cells, strict=True)
            row = [f'<td style="{style}">{cell}</td>' for style, cell in pairs]
            rows += f"<tr>{''.join(row)}</tr>"
    titles = "harm", "what", "the author's own line", "measured"
    head = "".join(f'<th style="{LEFT}">{title}</th>' for title in titles)
    return Html(f"<table><tr>{head}</tr>{rows}</table>")


def _quoted(lines: dict[str, str]) -> str:
    """Each line with the letters of those who have it."""
    shown = ""
    for line in dict.fromkeys(lines.values()):
        who = ", ".join(
            f'<a href="{ARTICLES[letter]}">{letter}</a>'
            if letter in ARTICLES
            else letter
            for letter in lines
            if lines[letter] == line
        )
        code = "<br>".join(f"<code>{escape(part)}</code>" for part in line.split(" | "))
        shown += f"{who}: {code}<br>"
    return shown
