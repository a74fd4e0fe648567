# Every public name and the file that explains it, in the order in which a sentence
# passes them. lazy_loader reads this when a name is first used; type checkers,
# completion and go-to-definition read it too.
# fmt: off

from .config import Config as Config
from .config import load_config as load_config
from .config import parse_overrides as parse_overrides
from .data.pairs import Pair as Pair
from .data.corpora import Contrast as Contrast
from .data.corpora import Corpus as Corpus
from .data.files import read_pairs as read_pairs
from .data.split import grouped_split as grouped_split
from .data.split import seen_share as seen_share
from .data.corpora import load_corpus as load_corpus
from .data.corpora import load_pairs as load_pairs
from .data.tokens import EOS as EOS
from .data.tokens import PAD as PAD
from .data.tokens import SOS as SOS
from .data.tokens import SPECIALS as SPECIALS
from .data.tokens import UNK as UNK
from .data.tokens import Vocab as Vocab
from .data.tokens import build_vocab_from_iterator as build_vocab_from_iterator
from .data.tokens import spacy_words as spacy_words
from .data.tokenizers import SentencePieceTokenizer as SentencePieceTokenizer
from .data.tokenizers import Tokenizer as Tokenizer
from .data.tokenizers import WordTokenizer as WordTokenizer
from .data.tokenizers import build_tokenizers as build_tokenizers
from .data.batches import Batch as Batch
from .data.batches import encode_pairs as encode_pairs
from .data.batches import example_lengths as example_lengths
from .data.batches import make_batch as make_batch
from .data.batches import pad_batch as pad_batch
from .data.batches import sentence_batches as sentence_batches
from .data.batches import token_batches as token_batches
from .model.attention import causal_mask as causal_mask
from .model.attention import padding_mask as padding_mask
from .model.attention import target_mask as target_mask
from .model.attention import KVCache as KVCache
from .model.attention import MultiHeadAttention as MultiHeadAttention
from .model.attention import collect_weights as collect_weights
from .model.attention import scaled_dot_product_attention as scaled_dot_product_attention
from .model.embeddings import Embedding as Embedding
from .model.embeddings import PositionalEncoding as PositionalEncoding
from .model.embeddings import sinusoids as sinusoids
from .model.layers import FeedForward as FeedForward
from .model.layers import Residual as Residual
from .model.layers import Encoder as Encoder
from .model.layers import EncoderLayer as EncoderLayer
from .model.layers import Decoder as Decoder
from .model.layers import DecoderLayer as DecoderLayer
from .model.transformer import Attention as Attention
from .model.transformer import Transformer as Transformer
from .model.transformer import build_model as build_model
from .model.transformer import count_parameters as count_parameters
from .training.loss import Objective as Objective
from .training.loss import cross_entropy as cross_entropy
from .training.loss import validation_loss as validation_loss
from .training.optim import learning_rate as learning_rate
from .training.trainer import Trainer as Trainer
from .run import Run as Run
from .run import train as train
from .run import load_or_train as load_or_train
from .translate.search import beam_search as beam_search
from .translate.search import greedy_search as greedy_search
from .translate.translator import Translation as Translation
from .translate.translator import Translator as Translator
from .translate.evaluate import Evaluation as Evaluation
from .translate.evaluate import alignment_error_rate as alignment_error_rate
from .translate.evaluate import contrastive_accuracy as contrastive_accuracy
from .translate.evaluate import evaluate as evaluate
from .translate.evaluate import perplexity as perplexity
from .translate.evaluate import sentence_log_probs as sentence_log_probs
from .translate.heatmap import plot_attention as plot_attention
from .translate.export import export_ctranslate2 as export_ctranslate2
from .translate.export import export_hugging_face as export_hugging_face
from .errors import CheckpointError as CheckpointError
from .errors import ConfigError as ConfigError
from .errors import CorpusError as CorpusError
from .errors import NMTError as NMTError
from .errors import ShapeError as ShapeError
from .errors import TrainingError as TrainingError

__version__: str
__all__: list[str]
