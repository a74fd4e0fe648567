# Every public name and the file that explains it, in the order of the way of a sentence. lazy_loader reads this when
# a name is first used; type checkers, completion and go-to-definition read it too.

from .attention import (
    MultiHeadAttention as MultiHeadAttention,
)
from .attention import (
    fused_attention as fused_attention,
)
from .attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from .batching import (
    Batch as Batch,
)
from .batching import (
    make_batch as make_batch,
)
from .batching import (
    pad_batch as pad_batch,
)
from .batching import (
    padding_share as padding_share,
)
from .batching import (
    sentence_batches as sentence_batches,
)
from .batching import (
    token_batches as token_batches,
)
from .config import (
    Config as Config,
)
from .config import (
    config_names as config_names,
)
from .config import (
    load_config as load_config,
)
from .config import (
    parse_overrides as parse_overrides,
)
from .corpora import Corpus as Corpus
from .corpora import Pair as Pair
from .corpora import load_corpus as load_corpus
from .decoder import Decoder as Decoder
from .decoder import DecoderLayer as DecoderLayer
from .decoder import LayerCache as LayerCache
from .decoding import (
    Candidate as Candidate,
)
from .decoding import (
    Hypothesis as Hypothesis,
)
from .decoding import (
    beam_search as beam_search,
)
from .decoding import (
    greedy_search as greedy_search,
)
from .decoding import (
    length_penalty as length_penalty,
)
from .diagrams import draw_boxes as draw_boxes
from .diagrams import draw_words as draw_words
from .embeddings import Embedding as Embedding
from .embeddings import PositionalEncoding as PositionalEncoding
from .embeddings import sinusoids as sinusoids
from .encoder import Encoder as Encoder
from .encoder import EncoderLayer as EncoderLayer
from .errors import (
    CheckpointError as CheckpointError,
)
from .errors import (
    ConfigError as ConfigError,
)
from .errors import (
    CorpusError as CorpusError,
)
from .errors import (
    MissingPackageError as MissingPackageError,
)
from .errors import (
    NMTError as NMTError,
)
from .errors import (
    ShapeError as ShapeError,
)
from .errors import (
    TrainingError as TrainingError,
)
from .evaluation import (
    Evaluation as Evaluation,
)
from .evaluation import (
    alignment_error_rate as alignment_error_rate,
)
from .evaluation import (
    contrastive_accuracy as contrastive_accuracy,
)
from .evaluation import (
    evaluate as evaluate,
)
from .evaluation import (
    perplexity as perplexity,
)
from .evaluation import (
    sentence_log_probs as sentence_log_probs,
)
from .layers import FeedForward as FeedForward
from .layers import Residual as Residual
from .losses import (
    Objective as Objective,
)
from .losses import (
    chunked_cross_entropy as chunked_cross_entropy,
)
from .losses import (
    cross_entropy as cross_entropy,
)
from .losses import (
    validation_loss as validation_loss,
)
from .masks import causal_mask as causal_mask
from .masks import padding_mask as padding_mask
from .masks import target_mask as target_mask
from .notebook import show_source as show_source
from .plotting import (
    draw_grid as draw_grid,
    new_figure as new_figure,
    plot_attention as plot_attention,
    plot_grids as plot_grids,
    plot_tables as plot_tables,
)
from .charts import (
    plot_bars as plot_bars,
    plot_history as plot_history,
    plot_hists as plot_hists,
    plot_lines as plot_lines,
)
from .diagrams import (
    draw_boxes as draw_boxes,
    draw_words as draw_words,
    plot_beam as plot_beam,
    plot_clocks as plot_clocks,
    plot_vectors as plot_vectors,
    plot_words as plot_words,
)
from .notebook import show_source as show_source
from .plotting import (
    draw_grid as draw_grid,
)
from .plotting import (
    new_figure as new_figure,
)
from .plotting import (
    plot_attention as plot_attention,
)
from .plotting import (
    plot_beam as plot_beam,
)
from .plotting import (
    plot_history as plot_history,
)
from .runs.export import export_ctranslate2 as export_ctranslate2
from .runs.run import Run as Run
from .runs.run import load_or_train as load_or_train
from .runs.run import train as train
from .schedules import build_optimizer as build_optimizer
from .schedules import learning_rate as learning_rate
from .special import EOS as EOS
from .special import PAD as PAD
from .special import SOS as SOS
from .special import SPECIALS as SPECIALS
from .special import UNK as UNK
from .tiny.contrasts import Contrast as Contrast
from .tiny.contrasts import make_contrasts as make_contrasts
from .tokenizers import (
    SentencePieceTokenizer as SentencePieceTokenizer,
)
from .tokenizers import (
    Tokenizer as Tokenizer,
)
from .tokenizers import (
    WordTokenizer as WordTokenizer,
)
from .tokenizers import (
    build_tokenizers as build_tokenizers,
)
from .tokenizers import (
    encode_pairs as encode_pairs,
)
from .training import Trainer as Trainer
from .transformer import (
    Attention as Attention,
)
from .transformer import (
    Transformer as Transformer,
)
from .transformer import (
    build_model as build_model,
)
from .transformer import (
    count_parameters as count_parameters,
)
from .translation import Translation as Translation
from .translator import Translator as Translator
from .vocab import Vocab as Vocab
from .vocab import build_vocab_from_iterator as build_vocab_from_iterator

__version__: str
__all__: list[str]
