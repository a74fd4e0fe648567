#!/usr/bin/env bash
# What needs a GPU, in one go, in under 8 minutes, without network: NMT_DATA=DIR benchmarks/gpu.sh
# Results with device and versions go to benchmarks/results/gpu/. DRY=1 does a few updates of everything, on a CPU too.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${NMT_DATA:?set NMT_DATA to the folder that holds multi30k/ and multi30k-tok/}"
python=${PYTHON:-.venv/bin/python} # needs the extra: pip install -e '.[notebooks,bench]'
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" NMT_RUNS="${NMT_RUNS:-$PWD/runs/gpu}"
export NMT_RESULTS="${NMT_RESULTS:-$PWD/benchmarks/results/gpu}"
best= writeup= speed= test=--test
if [ -n "${DRY:-}" ]; then
    NMT_RUNS=$(mktemp -d) NMT_RESULTS=$NMT_RUNS/results
    small="data.limit=300 train.max_steps=2 train.validate_every=2 train.checkpoint_every=1 decode.max_extra_tokens=2"
    best="$small data.vocab_size=500" writeup=$small speed="--batch-tokens 256 --repeats 1" test=
fi
start=$SECONDS
"$python" -c '
import accelerate, sacrebleu, sacremoses, sentencepiece, spacy, torch  # what is missing is said now, not after training
print("device:", torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU")'
"$python" benchmarks/multi30k.py --directions en-de --seeds 0 --set "$best" $test
"$python" benchmarks/multi30k.py --config writeup_c --directions en-de --seeds 0 --set "$writeup" $test
timeout 200 "$python" benchmarks/scaling.py $speed || echo "scaling.py was stopped; its table holds what it had measured"
echo "done in $((SECONDS - start)) s; tables: $NMT_RESULTS, runs: $NMT_RUNS"
