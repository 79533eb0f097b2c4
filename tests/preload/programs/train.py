#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data-parallel training of a classifier of texts, in numpy and mpi4py. Knows nothing of papfft.

The model is a table of 16384 words x 64 features, whose mean over a text's words a linear layer classifies. So the gradient of the table has
4 MiB. Every rank reads texts of its own source, long ones or short ones, computes the gradient of its batch, and all ranks add up their
gradients. Rank 0 checks the first sum against the gradients of all batches, which it computes again. In the end the ranks' weights must agree.

On the virtual cluster, whose hosts share the cores of one machine, an accelerator's time is slept:
    papfft cluster run -n 8 -- env LD_PRELOAD=$(papfft preload --path) /usr/bin/python3 train.py --steps 40 --us-per-word 20
"""
import argparse
import sys
import time

import numpy as np
from mpi4py import MPI

WORDS, FEATURES, CLASSES, TEXTS = 16384, 64, 8, 8  # TEXTS per batch


def batch_of(rank, step):
    """Texts and their classes. The words of a class are more frequent in its texts. @return a list of (words, class)"""
    source = np.random.default_rng([17, rank])
    typical_words = source.integers(50, 400)
    random = np.random.default_rng([17, rank, step])
    texts = []
    for _ in range(TEXTS):
        label = random.integers(CLASSES)
        count = max(1, int(typical_words * random.uniform(0.9, 1.1)))
        words = random.integers(0, WORDS, count)
        words[::2] = words[::2] // CLASSES * CLASSES + label
        texts.append((words, label))
    return texts


def gradient_of(texts, table, layer):
    """@return the gradients of the table and of the layer, summed over the texts, and the texts' loss"""
    of_table, of_layer, loss = np.zeros_like(table), np.zeros_like(layer), 0.0
    for words, label in texts:
        mean = table[words].mean(axis=0)
        logits = mean @ layer
        likely = np.exp(logits - logits.max())
        likely /= likely.sum()
        loss -= np.log(likely[label])
        error = likely
        error[label] -= 1
        of_layer += np.outer(mean, error)
        distinct, times = np.unique(words, return_counts=True)
        of_table[distinct] += np.outer(times, layer @ error / len(words))
    return of_table, of_layer, loss


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--steps", type=int, default=10)
    arguments.add_argument("--us-per-word", type=float, default=0, help="what an accelerator takes for a word; the rank sleeps that long")
    options = arguments.parse_args()
    comm = MPI.COMM_WORLD
    random = np.random.default_rng(5)
    table = random.normal(0, 0.1, (WORDS, FEATURES)).astype(np.float32)
    layer = random.normal(0, 0.1, (FEATURES, CLASSES)).astype(np.float32)
    losses, took_s, wrong = [], [], 0
    comm.Barrier()
    for step in range(options.steps):
        from_s = time.perf_counter()
        texts = batch_of(comm.rank, step)
        of_table, of_layer, loss = gradient_of(texts, table, layer)
        time.sleep(sum(len(words) for words, _ in texts) * options.us_per_word * 1e-6)
        comm.Allreduce(MPI.IN_PLACE, of_table)
        comm.Allreduce(MPI.IN_PLACE, of_layer)
        losses.append(comm.allreduce(loss) / (comm.size * TEXTS))
        took_s.append(time.perf_counter() - from_s)
        if step == 0 and comm.rank == 0:
            expected = sum(gradient_of(batch_of(rank, 0), table, layer)[0].astype(float) for rank in range(comm.size))
            wrong += int(not np.allclose(of_table, expected, rtol=1e-4, atol=1e-6))
        table -= 10.0 / comm.size * of_table
        layer -= 0.05 / comm.size * of_layer
    mine = np.array([float(np.linalg.norm(table.astype(float))), float(np.abs(layer).sum())])
    least, most = np.empty_like(mine), np.empty_like(mine)
    comm.Allreduce(mine, least, MPI.MIN)
    comm.Allreduce(mine, most, MPI.MAX)
    wrong += int(not np.allclose(least, most, rtol=1e-6))
    if comm.rank == 0:
        print(f"loss {losses[0]:.3f} to {losses[-1]:.3f}, norm of the table {mine[0]:.2f}")
        print(f"median step {1e3 * float(np.median(took_s)):.3f} ms, all {sum(took_s):.3f} s")
    if wrong > 0:
        print(f"rank {comm.rank}: {wrong} wrong results", file=sys.stderr)
    return 1 if wrong > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
