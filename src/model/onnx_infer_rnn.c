#include <inttypes.h>

#include "model/onnx_infer.h"

/*
 * RNN, GRU and LSTM.  With layout 0 (before opset 14 there is no other)
 *
 *     X [steps, batch, features]   Y   [steps, directions, batch, hidden]
 *                                  Y_h [directions, batch, hidden], Y_c too
 *
 * and with layout 1
 *
 *     X [batch, steps, features]   Y   [batch, steps, directions, hidden]
 *                                  Y_h [batch, directions, hidden], Y_c too
 */
typedef struct recurrence {
  const onnx_shape *in;
  int64_t directions, hidden;
  bool batch_first;
} recurrence;

/* The recurrent weights are [directions, gates * hidden, hidden]. */
static recurrence read_recurrence(const infer_node *n) {
  const onnx_shape *weights = infer_input_shape(n, 2);
  recurrence r = {.in = infer_input_shape(n, 0)};
  bool known = weights && weights->rank == 3;
  r.directions = infer_attribute_is(n->node, "direction", "bidirectional") + 1;
  r.hidden = onnx_find_int(n->node, "hidden_size",
                           known ? weights->dims[2] : ONNX_UNKNOWN);
  r.batch_first = onnx_find_int(n->node, "layout", 0) != 0;
  return r;
}

/* `steps`: is there such a dimension? */
static calm_status make_sequence(infer_node *n, uint32_t o, const recurrence *r,
                                 bool steps) {
  onnx_shape *out;
  uint32_t at = 0, batch = r->batch_first ? 0 : 1;
  bool known = r->in && r->in->rank == 3;
  TRY(infer_make(&out, n, o, steps ? 4 : 3));
  uint32_t batch_at = r->batch_first ? 0 : steps ? 2 : 1;
  uint32_t steps_at = !steps ? CALM_NONE : r->batch_first ? 1 : 0;
  for (; at + 1 < out->rank; at++)
    if (at != batch_at && at != steps_at)
      infer_set(out, at, r->directions, NULL);
    else if (known)
      infer_copy(out, at, r->in, at == batch_at ? batch : 1 - batch);
  infer_set(out, at, r->hidden, NULL);
  return CALM_OK;
}

calm_status infer_recurrent(infer_node *n) {
  recurrence r = read_recurrence(n);
  if (r.in && r.in->rank != 3)
    return infer_conflict(n, "has an input of %" PRIu32 " dimensions, not 3",
                          r.in->rank);
  for (uint32_t o = 0; o < 3; o++) {
    n->outputs[o].type = infer_input_type(n, 0);
    TRY(make_sequence(n, o, &r, o == 0));
  }
  return CALM_OK;
}
