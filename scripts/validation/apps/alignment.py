"""Prints an alignment of twelve DNA sequences that descend from one, in PHYLIP format: the same each time."""

import random

SPECIES, SITES = 12, 1200


def descendant(parent, mutation_rate):
    return "".join(random.choice("ACGT") if random.random() < mutation_rate else base for base in parent)


random.seed(1)
sequences = ["".join(random.choice("ACGT") for _ in range(SITES))]
while len(sequences) < SPECIES:
    parent = sequences.pop(0)
    sequences += [descendant(parent, 0.1), descendant(parent, 0.2)]

print(SPECIES, SITES)
for i, sequence in enumerate(sequences):
    print(f"species{i:<3} {sequence}")
