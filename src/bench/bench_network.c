#include "bench/bench_network.h"

#include <string.h>

#include "accel/accel_graph.h"
#include "bench/bench_case.h"
#include "bench/bench_network_build.h"
#include "bench/bench_network_randwire.h"

const bench_network bench_networks[BENCH_NETWORK_COUNT] = {
    {"darts-normal", "DARTS", "ImageNet", "Normal", false},
    {"swiftnet-a", "SwiftNet", "Visual Wake Words", "A", false},
    {"swiftnet-b", "SwiftNet", "Visual Wake Words", "B", false},
    {"swiftnet-c", "SwiftNet", "Visual Wake Words", "C", false},
    {"randwire-cifar10-a", "RandWire", "CIFAR-10", "A", true},
    {"randwire-cifar10-b", "RandWire", "CIFAR-10", "B", true},
    {"randwire-cifar100-a", "RandWire", "CIFAR-100", "A", true},
    {"randwire-cifar100-b", "RandWire", "CIFAR-100", "B", true},
    {"randwire-cifar100-c", "RandWire", "CIFAR-100", "C", true},
    {"darts", "DARTS", "ImageNet", NULL, false},
    {"swiftnet", "SwiftNet", "Visual Wake Words", NULL, false},
    {"randwire-cifar10", "RandWire", "CIFAR-10", NULL, true},
    {"randwire-cifar100", "RandWire", "CIFAR-100", NULL, true},
};

/* ---- SwiftNet ------------------------------------------------------------ */

/* The case that the library carries. */
static calm_status open_swiftnet(calm_model **out, calm_context *context) {
  const bench_case *file;
  TRY(bench_case_get(&file, "swiftnet.cg", context));
  return calm_model_parse(out, context, file->bytes, file->length,
                          "swiftnet.cg", NULL);
}

static tensor_id find_tensor(const graph *g, const char *name) {
  for (tensor_id t = 0; t < g->tensors.count; t++)
    if (!strcmp(g->tensors.data[t].name, name)) return t;
  return CALM_NONE;
}

/* Cut a cell out: the operators that come after the tensor `first` and before
   `last`, these two becoming input and output. */
typedef struct cut {
  const graph *from;
  graph to;
  tensor_id first, last;
  tensor_id *moved; /* per tensor of `from`: its id in `to` */
} cut;

/* Ids rise along the file, which runs in order: one sweep each way. */
static calm_status mark_between(bool **out, const cut *c, arena *a) {
  const graph *g = c->from;
  bool *behind, *before;
  ARENA_ARRAY(a, behind, g->ops.count);
  ARENA_ARRAY(a, before, g->ops.count);
  for (op_id u = 0; u < g->ops.count; u++) {
    for (uint32_t i = g->pred_begin[u]; i < g->pred_begin[u + 1]; i++)
      behind[u] |= behind[g->preds[i]];
    for (uint32_t i = 0; i < g->ops.data[u].input_count; i++)
      behind[u] |= g->ops.data[u].inputs[i] == c->first;
  }
  before[g->producer[c->last]] = true;
  for (op_id u = g->ops.count; u-- > 0;) {
    for (uint32_t i = g->succ_begin[u]; i < g->succ_begin[u + 1]; i++)
      before[u] |= before[g->succs[i]];
    behind[u] = behind[u] && before[u];
  }
  *out = behind;
  return CALM_OK;
}

static calm_status move_tensor(cut *c, tensor_id *t) {
  if (*t != CALM_NONE && c->moved[*t] == CALM_NONE) {
    graph_tensor copy = c->from->tensors.data[*t];
    if (*t == c->first) copy.flags |= CALM_TENSOR_INPUT;
    if (*t == c->last) copy.flags |= CALM_TENSOR_OUTPUT;
    TRY(graph_add_tensor(&c->moved[*t], &c->to, &copy));
  }
  if (*t != CALM_NONE) *t = c->moved[*t];
  return CALM_OK;
}

/* The copy that the graph keeps has operands of its own. */
static calm_status move_op(cut *c, op_id u) {
  op_id id;
  TRY(graph_add_op(&id, &c->to, &c->from->ops.data[u]));
  graph_op *op = &c->to.ops.data[id];
  for (uint32_t i = 0; i < op->input_count; i++)
    TRY(move_tensor(c, &op->inputs[i]));
  for (uint32_t i = 0; i < op->output_count; i++)
    TRY(move_tensor(c, &op->outputs[i]));
  return CALM_OK;
}

static calm_status cut_out(cut *c, arena *a) {
  bool *between;
  ARENA_ARRAY(a, c->moved, c->from->tensors.count);
  for (tensor_id t = 0; t < c->from->tensors.count; t++)
    c->moved[t] = CALM_NONE;
  TRY(mark_between(&between, c, a));
  for (op_id u = 0; u < c->from->ops.count; u++)
    if (between[u]) TRY(move_op(c, u));
  return graph_finish(&c->to, c->to.name);
}

/* Where the cells begin and end. */
static const struct {
  const char *name, *first, *last;
} swiftnet_cells[] = {{"swiftnet-a", "a0", "a20"},
                      {"swiftnet-b", "b0", "b18"},
                      {"swiftnet-c", "c0", "c21"}};

static calm_status write_swiftnet_cell(text *out, const calm_model *whole,
                                       uint32_t cell) {
  arena scratch;
  arena_init(&scratch, out->context);
  const graph *from = &whole->graphs.data[0];
  cut c = {.from = from,
           .first = find_tensor(from, swiftnet_cells[cell].first),
           .last = find_tensor(from, swiftnet_cells[cell].last)};
  graph_init(&c.to, &scratch, swiftnet_cells[cell].name);
  const calm_status status = cut_out(&c, &scratch);
  if (status == CALM_OK) graph_text_write(out, &c.to, 1);
  graph_free(&c.to);
  arena_free(&scratch);
  return status;
}

static calm_status write_swiftnet(text *out, bench_network_id id) {
  calm_model *whole;
  TRY(open_swiftnet(&whole, out->context));
  calm_status status = CALM_OK;
  if (id == BENCH_SWIFTNET)
    graph_text_write(out, whole->graphs.data, 1);
  else
    status = write_swiftnet_cell(out, whole, id - BENCH_SWIFTNET_A);
  calm_model_free(whole);
  return status;
}

/* ---- All ----------------------------------------------------------------- */

calm_status bench_network_write(text *out, bench_network_id id, uint64_t seed,
                                bench_grain grain) {
  switch (id) {
    case BENCH_DARTS_NORMAL: bench_network_build_darts_cell(out); break;
    case BENCH_DARTS: bench_network_build_darts(out); break;
    case BENCH_CIFAR10_A:
    case BENCH_CIFAR10_B:
      randwire_build_stage(out, 10, id - BENCH_CIFAR10_A, seed, grain);
      break;
    case BENCH_CIFAR100_A:
    case BENCH_CIFAR100_B:
    case BENCH_CIFAR100_C:
      randwire_build_stage(out, 100, id - BENCH_CIFAR100_A, seed, grain);
      break;
    case BENCH_CIFAR10: randwire_build(out, 10, 2, seed, grain); break;
    case BENCH_CIFAR100: randwire_build(out, 100, 3, seed, grain); break;
    default: return write_swiftnet(out, id);
  }
  return CALM_OK;
}

calm_status bench_network_open(calm_model **out, calm_context *context,
                               bench_network_id id, uint64_t seed,
                               bench_grain grain) {
  text t;
  text_init(&t, context);
  calm_status status = bench_network_write(&t, id, seed, grain);
  if (status == CALM_OK && t.failed) status = context_no_memory(context);
  if (status == CALM_OK)
    status = calm_model_parse(out, context, t.data, t.length,
                              bench_networks[id].name, NULL);
  text_free(&t);
  return status;
}

/* ---- Operations and weights ---------------------------------------------- */

static uint64_t elements_of(const graph_tensor *t) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < t->rank; i++) count *= (uint64_t)t->dimensions[i];
  return count;
}

/* Filters have dimensions, biases one. */
static void count_constants(bench_network_size *size, const graph *g) {
  for (tensor_id t = 0; t < g->tensors.count; t++) {
    const graph_tensor *tensor = &g->tensors.data[t];
    if (!(tensor->flags & CALM_TENSOR_CONST)) continue;
    *(tensor->rank > 1 ? &size->weights : &size->biases) += elements_of(tensor);
  }
}

static calm_status count_macs(bench_network_size *size, const calm_model *model,
                              arena *a) {
  accel_graph_layers layers;
  const graph *g = &model->graphs.data[0];
  TRY(accel_graph_extract(&layers, g, a));
  if (layers.skipped_count)
    return context_fail(model->context, CALM_UNSUPPORTED,
                        "%s: operator '%s': its MACs cannot be counted: %s",
                        model->path, g->ops.data[layers.skipped[0]].name,
                        layers.reasons[0]);
  for (uint32_t i = 0; i < layers.layer_count; i++)
    size->macs += layers.layers[i].macs * layers.layers[i].count;
  return CALM_OK;
}

calm_status bench_network_measure(bench_network_size *out,
                                  const calm_model *model) {
  arena scratch;
  arena_init(&scratch, model->context);
  bench_network_size size = {.op_count = model->graphs.data[0].ops.count};
  count_constants(&size, &model->graphs.data[0]);
  const calm_status status = count_macs(&size, model, &scratch);
  arena_free(&scratch);
  if (status == CALM_OK) *out = size;
  return status;
}
