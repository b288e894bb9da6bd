/*
 * Any bytes in the place of a plan's mark are read, and it is said why they are
 * none, if they are not.  What was read and is written again, with hashes that
 * are right, reads as the same terms, and holds.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/tflite_builder.h"
#include "../tests/unit/written_model.h"
#include "demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 8192 };

static build_file *file_with(const uint8_t *data, uint32_t size) {
  static const int32_t plan[] = {0, 1, 2, 0, 16};
  const build_buffer buffers[] = {
      {NULL, 0, 0, 0}, {data, size, 0, 0}, {plan, sizeof plan, 0, 0}};
  const build_metadata metadata[] = {{"calm.overlap", 1},
                                     {"OfflineMemoryAllocation", 2}};
  const build_code codes[] = {{101, NULL}};
  const build_tensor tensors[] = {{.name = "x", .shape = LIST(8)},
                                  {.name = "y", .shape = LIST(8)}};
  const build_op ops[] = {{.inputs = LIST(0), .outputs = LIST(1)}};
  const build_subgraph subgraph = {.tensors = tensors,
                                   .tensor_count = 2,
                                   .ops = ops,
                                   .op_count = 1,
                                   .inputs = LIST(0),
                                   .outputs = LIST(1)};
  const build_model m = {.codes = codes,
                         .code_count = 1,
                         .subgraphs = &subgraph,
                         .subgraph_count = 1,
                         .buffers = buffers,
                         .buffer_count = 3,
                         .metadata = metadata,
                         .metadata_count = 2};
  return build_tflite(&m, false);
}

static void expect_same(const model_mark *a, const model_mark *b) {
  demand(b->present && !b->fault);
  demand(b->same_graphs && b->same_offsets);
  demand(!strcmp(a->kernels, b->kernels) && !strcmp(a->views, b->views));
  demand(!strcmp(a->tool, b->tool) && a->edition == b->edition);
}

/* In the place of the old one, or in front of the file. */
static void write_again(const reading *r) {
  arena a;
  arena_init(&a, r->context);
  model_patch patch = identity_patch(&r->model, &a, MODEL_PLAN_WRITE);
  patch.mark = &r->model.offline.mark;
  written w = written_model(&r->model, &patch);
  demand(w.status == CALM_OK);
  reading *again = reading_of_bytes(w.bytes, w.length);
  demand(again->status == CALM_OK);
  expect_same(patch.mark, &again->model.offline.mark);
  demand(reading_end(again) == 0);
  free(w.bytes);
  arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MOST_BYTES) return 0;
  build_file *f = file_with(data, (uint32_t)size);
  reading *r = reading_of(f);
  const model_mark *mark = &r->model.offline.mark;
  demand(r->status == CALM_OK && mark->present);
  if (mark->fault)
    demand(*mark->fault && !mark->same_graphs && !mark->same_offsets);
  else
    write_again(r);
  demand(reading_end(r) == 0);
  free(f);
  return 0;
}
