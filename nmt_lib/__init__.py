"""Neural machine translation with the original Transformer, small enough to read in an
afternoon.

In training, a sentence takes this path: text → ``Tokenizer.encode`` → batches → masks →
``Transformer`` → logits → loss. A ``Translator`` takes it from text to text.
``__init__.pyi`` lists every public name with its file. A name is loaded when it is
first used, so importing ``nmt_lib`` costs next to nothing.
"""

import warnings

import lazy_loader

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

# Jupyter without ipywidgets shows plain progress bars, which needs no warning.
warnings.filterwarnings("ignore", "IProgress not found")
