# Every public name and the file that explains it, in the order of the way of a sentence. lazy_loader reads this when
# a name is first used; type checkers, completion and go-to-definition read it too.
# fmt: off

from .config import Config as Config
from .configs.reading import (
    config_names as config_names, load_config as load_config, parse_overrides as parse_overrides,
)
from .rows import Pair as Pair
from .corpora import Corpus as Corpus, load_corpus as load_corpus
from .special import EOS as EOS, PAD as PAD, SOS as SOS, SPECIALS as SPECIALS, UNK as UNK
from .vocab import Vocab as Vocab, build_vocab_from_iterator as build_vocab_from_iterator
from .tokenizers import (
    SentencePieceTokenizer as SentencePieceTokenizer, Tokenizer as Tokenizer, WordTokenizer as WordTokenizer,
    build_tokenizers as build_tokenizers,
)
from .encoding import encode_pairs as encode_pairs
from .batching import (
    Batch as Batch, make_batch as make_batch, pad_batch as pad_batch, padding_share as padding_share,
    sentence_batches as sentence_batches, token_batches as token_batches,
)
from .embeddings import Embedding as Embedding, PositionalEncoding as PositionalEncoding, sinusoids as sinusoids
from .masks import causal_mask as causal_mask, padding_mask as padding_mask, target_mask as target_mask
from .attention import (
    MultiHeadAttention as MultiHeadAttention,
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from .layers import FeedForward as FeedForward, Residual as Residual
from .encoder import Encoder as Encoder, EncoderLayer as EncoderLayer
from .decoder import Decoder as Decoder, DecoderLayer as DecoderLayer, LayerCache as LayerCache
from .transformer import (
    Attention as Attention, Transformer as Transformer, build_model as build_model,
    count_parameters as count_parameters,
)
from .losses import (
    Objective as Objective, chunked_cross_entropy as chunked_cross_entropy, cross_entropy as cross_entropy,
    validation_loss as validation_loss,
)
from .schedules import build_optimizer as build_optimizer, learning_rate as learning_rate
from .training import Trainer as Trainer
from .decoding import (
    Candidate as Candidate, Hypothesis as Hypothesis, beam_search as beam_search, greedy_search as greedy_search,
    length_penalty as length_penalty,
)
from .translation import Translation as Translation
from .translator import Translator as Translator
from .evaluation import (
    Evaluation as Evaluation, alignment_error_rate as alignment_error_rate,
    contrastive_accuracy as contrastive_accuracy, evaluate as evaluate, perplexity as perplexity,
    sentence_log_probs as sentence_log_probs,
)
from .pictures.plotting import (
    draw_grid as draw_grid, new_figure as new_figure, plot_grids as plot_grids, plot_tables as plot_tables,
)
from .pictures.heatmaps import plot_attention as plot_attention
from .pictures.charts import (
    plot_bars as plot_bars, plot_history as plot_history, plot_hists as plot_hists, plot_lines as plot_lines,
)
from .pictures.diagrams import (
    draw_boxes as draw_boxes, draw_words as draw_words, plot_beam as plot_beam, plot_clocks as plot_clocks,
    plot_vectors as plot_vectors, plot_words as plot_words,
)
from .pictures.viewer import view_attention as view_attention
from .pictures.source import show_source as show_source
from .runs.run import Run as Run, load_or_train as load_or_train, train as train
from .runs.export import export_ctranslate2 as export_ctranslate2
from .runs.hugging_face import export_hugging_face as export_hugging_face
from .tiny.contrasts import Contrast as Contrast, make_contrasts as make_contrasts
from .errors import (
    CheckpointError as CheckpointError, ConfigError as ConfigError, CorpusError as CorpusError,
    MissingPackageError as MissingPackageError, NMTError as NMTError, ShapeError as ShapeError,
    TrainingError as TrainingError,
)

__version__: str
__all__: list[str]
