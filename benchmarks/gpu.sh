#!/usr/bin/env bash
# What needs a GPU, in one go, without network: NMT_DATA=DIR benchmarks/gpu.sh
# Nine small models are trained at once, since one alone leaves most of a GPU idle: on an
# H100 in ten minutes. Results with device and versions go to benchmarks/results/gpu/.
# DRY=1 runs all of it in a minute, on a CPU too, without data, and writes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${DRY:-}" ] || : "${NMT_DATA:?set NMT_DATA to the folder that holds multi30k/ and multi30k-tok/}"
python=${PYTHON:-.venv/bin/python} # needs the extra: pip install -e '.[notebooks,bench]'
export NMT_RUNS="${NMT_RUNS:-$PWD/runs/gpu}" NMT_RESULTS="${NMT_RESULTS:-$PWD/benchmarks/results/gpu}"
test=${DRY:+--dry} dry=${DRY:+--dry}
directions=(en-de de-en en-fr) seeds=(0 1 2)
[ -z "$dry" ] || directions=(en-de) seeds=(0)
start=$SECONDS
if [ -z "$dry" ]; then
    test=--test
    # What is missing is said now, not after training.
    "$python" -c 'import sacrebleu, sacremoses, sentencepiece, spacy, torch
print("device:", torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU")'
fi
jobs=()
for direction in "${directions[@]}"; do
    for seed in "${seeds[@]}"; do
        OMP_NUM_THREADS=1 "$python" -m benchmarks.multi30k \
            --directions "$direction" --seeds "$seed" $dry &
        jobs+=($!)
    done
done
for job in "${jobs[@]}"; do wait "$job"; done
for direction in "${directions[@]}"; do
    for set in "$dry" "$test"; do
        "$python" -m benchmarks.multi30k \
            --directions "$direction" --seeds "${seeds[@]}" $set
    done
done
"$python" -m benchmarks.multi30k --config writeup_c $test
timeout 200 "$python" -m benchmarks.scaling $dry ||
    echo "scaling was stopped; its table holds what it had measured"
echo "done in $((SECONDS - start)) s; tables: $NMT_RESULTS, runs: $NMT_RUNS"
