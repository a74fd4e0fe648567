"""Other answers to the exercise of the deeper page on counting parameters."""


def by_layers(D, d_ff, N, V_src, V_tgt):
    def linear(i, o):
        return i * o + o

    layers = 12 * linear(D, D) + 2 * (linear(D, d_ff) + linear(d_ff, D)) + 10 * D
    return N * layers + V_src * D + V_tgt * D + linear(D, V_tgt)


RIGHT = {
    "all_parameters": [
        by_layers,
    ],
}
