/* SERENITY's Table 1: what the networks compute and store. */
#include "bench/bench_serenity.h"

static const struct published {
  bench_network_id id;
  bench_paper_id macs, weights;
} published[] = {
    {BENCH_DARTS, PAPER_table1_darts_macs, PAPER_table1_darts_weights},
    {BENCH_SWIFTNET, PAPER_table1_swiftnet_macs, PAPER_table1_swiftnet_weights},
    {BENCH_CIFAR10, PAPER_table1_cifar10_macs, PAPER_table1_cifar10_weights},
    {BENCH_CIFAR100, PAPER_table1_cifar100_macs,
     PAPER_table1_cifar100_weights}};
enum { PUBLISHED = sizeof published / sizeof *published };

static const bench_column columns[] = {
    {"network", "network", BENCH_WORDS},
    {"paper_macs", "paper: MACs", BENCH_COUNT},
    {"macs", "MACs", BENCH_COUNT},
    {"macs_ratio", "MACs / paper", BENCH_RATIO},
    {"paper_weights", "paper: weights", BENCH_COUNT},
    {"weights", "weights", BENCH_COUNT},
    {"weights_ratio", "weights / paper", BENCH_RATIO},
    {"operators", "operators", BENCH_COUNT},
};

static const bench_column seed_columns[] = {
    {"network", "network", BENCH_WORDS},
    {"seeds", "seeds", BENCH_COUNT},
    {"least_macs", "MACs: min", BENCH_COUNT},
    {"mean_macs", "MACs: mean", BENCH_COUNT},
    {"most_macs", "MACs: max", BENCH_COUNT},
    {"least_weights", "weights: min", BENCH_COUNT},
    {"mean_weights", "weights: mean", BENCH_COUNT},
    {"most_weights", "weights: max", BENCH_COUNT},
};

static calm_status measure(bench_network_size *out, bench *b,
                           bench_network_id id, uint64_t seed) {
  calm_model *model;
  TRY(bench_network_open(&model, b->context, id, seed, BENCH_OPERATORS));
  const calm_status status = bench_network_measure(out, model);
  calm_model_free(model);
  return status;
}

static void add_pair(bench *b, bench_table *t, bench_paper_id id,
                     uint64_t ours) {
  const double paper = bench_paper_figures[id];
  bench_number(b, t, paper);
  bench_number(b, t, (double)ours);
  bench_number(b, t, (double)ours / paper);
}

static void add_name(bench *b, bench_table *t, bench_network_id id) {
  const bench_network *n = &bench_networks[id];
  bench_words(b, t, n->seeded ? "%s %s" : "%s", n->network, n->data);
}

static calm_status add_networks(bench *b) {
  bench_table *t =
      bench_table_begin(b, "table1", "What the networks compute and store",
                        BENCH_COLUMNS(columns));
  for (uint32_t i = 0; i < PUBLISHED; i++) {
    bench_network_size size;
    TRY(measure(&size, b, published[i].id, bench_seed(b, 0)));
    add_name(b, t, published[i].id);
    add_pair(b, t, published[i].macs, size.macs);
    add_pair(b, t, published[i].weights, size.weights + size.biases);
    bench_number(b, t, size.op_count);
  }
  bench_note(b, t,
             "Counted from the shapes of the graphs: MACs of convolutions and "
             "fully connected layers; weights with biases, into which batch "
             "normalization is folded. RandWire: seed %llu.",
             bench_seed(b, 0));
  bench_note(b, t,
             "DARTS: for the authors' own code others report 523 M "
             "(convolutions and fully connected layers) and 544.6 M (a public "
             "counter), in `quark0/darts`, issue 46. Two operations more per "
             "element for batch normalization would make ours 544.6 M; the "
             "difference to 523 M, and how the 574 M of the DARTS paper were "
             "counted, is not known.");
  bench_note(b, t,
             "SwiftNet: shapes are those of the file that its authors "
             "published. One addition more per element for biases makes it "
             "57.2 M. The paper's 249.7 K weights are not in that file.");
  return CALM_OK;
}

/* ---- Over seeds ---------------------------------------------------------- */

static void add_whole_spread(bench *b, bench_table *t, const double *values) {
  bench_spread s = bench_spread_of(values, BENCH_SEED_COUNT);
  s.mean = round(s.mean);
  bench_add_spread(b, t, s);
}

static calm_status add_seeds(bench *b) {
  bench_table *t =
      bench_table_begin(b, "table1-seeds", "RandWire over seeds 1 to 20",
                        BENCH_COLUMNS(seed_columns));
  for (bench_network_id id = BENCH_CIFAR10; id <= BENCH_CIFAR100; id++) {
    double macs[BENCH_SEED_COUNT], weights[BENCH_SEED_COUNT];
    for (uint32_t i = 0; i < BENCH_SEED_COUNT; i++) {
      bench_network_size size;
      TRY(measure(&size, b, id, i + 1));
      macs[i] = (double)size.macs;
      weights[i] = (double)(size.weights + size.biases);
    }
    add_name(b, t, id);
    bench_number(b, t, BENCH_SEED_COUNT);
    add_whole_spread(b, t, macs);
    add_whole_spread(b, t, weights);
  }
  bench_note(b, t,
             "Seeds %llu to %llu. WS(32, 4, 0.75); stages of 16 x 16 x 78, 8 x "
             "8 x 156 and, for "
             "CIFAR-100, 4 x 4 x 312, which the bytes in the paper's figures "
             "give away.",
             bench_seed(b, 0), bench_seed(b, BENCH_SEED_COUNT - 1));
  bench_note(b, t,
             "The paper does not say what is around the stages. We take one "
             "convolution of 3 x 3 to 39 channels at stride 1 (RandWire has a "
             "second one) and RandWire's classifier (pointwise to 1280, mean, "
             "fully connected). This was chosen with the paper's totals in "
             "view, among stems with 3, 39 and 78 channels and a mean before "
             "or behind the pointwise convolution, so that being near them "
             "says little. With RandWire's second convolution as a separable "
             "one and the mean in front, an estimate over 200 other seeds is "
             "108 M and 155 M MACs, 1.20 M and 4.45 M weights.");
  bench_note(b, t,
             "Seeds differ in the number of nodes without predecessors, whose "
             "inputs have half the channels.");
  return CALM_OK;
}

calm_status bench_serenity_table1(bench *b) {
  bench_progress(b, "counting operations and weights");
  TRY(add_networks(b));
  return add_seeds(b);
}
