#!/usr/bin/env bash
# What needs a GPU, in one go, in under 8 minutes, without network: NMT_DATA=DIR benchmarks/gpu.sh
# Results with device and versions go to benchmarks/results/gpu/.
# DRY=1 runs all of it in seconds, on a CPU too, without data, and writes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${DRY:-}" ] || : "${NMT_DATA:?set NMT_DATA to the folder that holds multi30k/ and multi30k-tok/}"
python=${PYTHON:-.venv/bin/python} # needs the extra: pip install -e '.[notebooks,bench]'
export NMT_RUNS="${NMT_RUNS:-$PWD/runs/gpu}" NMT_RESULTS="${NMT_RESULTS:-$PWD/benchmarks/results/gpu}"
test=${DRY:+--dry} dry=${DRY:+--dry}
start=$SECONDS
if [ -z "$dry" ]; then
    test=--test
    # What is missing is said now, not after training.
    "$python" -c 'import sacrebleu, sacremoses, sentencepiece, spacy, torch
print("device:", torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU")'
fi
"$python" -m benchmarks.multi30k $test
"$python" -m benchmarks.multi30k --config writeup_c $test
timeout 200 "$python" -m benchmarks.scaling $dry ||
    echo "scaling was stopped; its table holds what it had measured"
echo "done in $((SECONDS - start)) s; tables: $NMT_RESULTS, runs: $NMT_RUNS"
