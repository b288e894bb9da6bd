/*
 * A reordered .onnx file: the same bytes, with the entries of the nodes in
 * other places.  The fields of a graph may be mixed, so each place where a node
 * stands stays one, and only what stands there changes; the messages around
 * them keep their lengths.
 *
 *     name | node A | initializer | node B | node C | output
 *     name | node C | initializer | node A | node B | output
 *
 * The bodies of a node move with it and are reordered likewise.
 */
#include <assert.h>
#include <string.h>

#include "model/onnx_parts.h"
#include "model/onnx_schema.h"
#include "model/protobuf_write.h"

/* What stands in the places of one graph. */
typedef struct arrangement {
  uint32_t *nodes;      /* [place]: the node that now stands there */
  uint32_t *first_body; /* node n runs graphs first_body[n] to
                           first_body[n + 1] - 1 */
} arrangement;

typedef struct onnx_writer {
  onnx_reader *r; /* the file as it is */
  const model_patch *patch;
  arrangement *arrangements; /* per graph */
  file_pieces *out;
  bool mapped;
} onnx_writer;

/* ---- Which node goes where ----------------------------------------------- */

/* A node that waits for what it reads; those before `next` are looked after. */
typedef struct waiting {
  uint32_t node, next;
} waiting;

/* Nodes that only make weights keep their places, unless a node that reads them
   now stands before.  So each node draws in front of itself those that it needs
   and that have not had their turn. */
typedef struct placer {
  const onnx_graph *g;
  uint32_t *out, count;
  bool *placed;
  waiting *stack;
} placer;

/* The next node that `w` needs, makes weights, and has not been placed;
   CALM_NONE: there is none left. */
static uint32_t next_needed(const placer *p, waiting *w) {
  const onnx_node *node = &p->g->nodes.data[w->node];
  while (w->next < node->input_count + node->captured_count) {
    uint32_t i = w->next++;
    value_id v = i < node->input_count ? node->inputs[i]
                                       : node->captured[i - node->input_count];
    uint32_t source =
        v == CALM_NONE ? CALM_NONE : p->g->values.data[v].producer;
    if (source != CALM_NONE && !p->placed[source] &&
        p->g->nodes.data[source].weights_only)
      return source;
  }
  return CALM_NONE;
}

/* There are no cycles, so a node is on the stack once at most. */
static void place(placer *p, uint32_t node) {
  uint32_t depth = 0;
  p->stack[depth++] = (waiting){node, 0};
  while (depth) {
    uint32_t needed = next_needed(p, &p->stack[depth - 1]);
    if (needed != CALM_NONE) {
      p->stack[depth++] = (waiting){needed, 0};
      continue;
    }
    uint32_t done = p->stack[--depth].node;
    p->placed[done] = true;
    p->out[p->count++] = done;
  }
}

/* In the places of operators stand the operators in their new order. */
static void place_all(placer *p, const graph *built, const op_id *sequence) {
  uint32_t step = 0;
  for (uint32_t n = 0; n < p->g->nodes.count; n++) {
    if (p->g->nodes.data[n].weights_only) {
      if (!p->placed[n]) place(p, n);
    } else {
      place(p, built->ops.data[sequence[step++]].file_index);
    }
  }
  assert(step == built->ops.count && p->count == p->g->nodes.count);
}

static calm_status arrange_nodes(arrangement *out, const onnx_graph *g,
                                 const graph *built, const op_id *sequence,
                                 arena *a) {
  placer p = {.g = g};
  ARENA_ARRAY(a, p.out, g->nodes.count);
  ARENA_ARRAY(a, p.placed, g->nodes.count);
  ARENA_ARRAY(a, p.stack, g->nodes.count);
  place_all(&p, built, sequence);
  out->nodes = p.out;
  return CALM_OK;
}

/* The graphs that the nodes of a graph run are numbered one after the other, in
   the order of the file, and behind those of the graph before it. */
static calm_status list_bodies(onnx_writer *w, uint32_t graph,
                               uint32_t *next_body, arena *a) {
  const onnx_reader *r = w->r;
  const uint32_t nodes = r->graphs.data[graph].nodes.count;
  uint32_t *first;
  ARENA_ARRAY(a, first, (size_t)nodes + 1);
  for (uint32_t n = 0; n < nodes; n++) {
    first[n] = *next_body;
    while (*next_body < r->graphs.count &&
           r->graphs.data[*next_body].parent == graph &&
           r->graphs.data[*next_body].node == n)
      ++*next_body;
  }
  first[nodes] = *next_body;
  w->arrangements[graph].first_body = first;
  return CALM_OK;
}

static calm_status arrange(onnx_writer *w, const calm_model *model, arena *a) {
  uint32_t next_body = 1;
  ARENA_ARRAY(a, w->arrangements, w->r->graphs.count);
  for (uint32_t i = 0; i < w->r->graphs.count; i++) {
    TRY(arrange_nodes(&w->arrangements[i], &w->r->graphs.data[i],
                      &model->graphs.data[i], w->patch->sequences[i], a));
    TRY(list_bodies(w, i, &next_body, a));
  }
  return CALM_OK;
}

/* ---- The bytes ----------------------------------------------------------- */

/* Pieces that follow each other in the file are one. */
static calm_status copy(onnx_writer *w, size_t begin, size_t end) {
  const uint8_t *bytes = w->r->file.bytes + begin;
  if (begin == end) return CALM_OK;
  if (w->out->count) {
    file_piece *last = &w->out->data[w->out->count - 1];
    if (last->bytes + last->length == bytes) {
      last->length += end - begin;
      return CALM_OK;
    }
  }
  VECTOR_PUSH(w->r->context, w->out,
              (file_piece){bytes, end - begin, w->mapped});
  return CALM_OK;
}

/* A graph or a node that is being written: up to where, and which of its nodes
   or bodies comes next. */
typedef struct level {
  bool is_graph;
  uint32_t graph, node; /* node: of `graph`, if it is a node */
  uint32_t next;
  size_t at, end;
} level;

enum { MAX_LEVELS = 2 * (ONNX_MAX_DEPTH + 2) };

typedef struct level_stack {
  level levels[MAX_LEVELS];
  uint32_t depth;
} level_stack;

static void enter_graph(level_stack *stack, const onnx_writer *w,
                        uint32_t graph) {
  proto_span span = w->r->graphs.data[graph].span;
  stack->levels[stack->depth++] = (level){
      .is_graph = true, .graph = graph, .at = span.begin, .end = span.end};
}

static void enter_node(level_stack *stack, const onnx_writer *w, uint32_t graph,
                       uint32_t node) {
  proto_span entry = w->r->graphs.data[graph].nodes.data[node].entry;
  const uint32_t *first = w->arrangements[graph].first_body;
  stack->levels[stack->depth++] = (level){.graph = graph,
                                          .node = node,
                                          .next = first[node],
                                          .at = entry.begin,
                                          .end = entry.end};
}

/* Up to the next place of a node, and into what stands there now. */
static calm_status step_graph(onnx_writer *w, level_stack *stack, level *top) {
  const onnx_graph *g = &w->r->graphs.data[top->graph];
  if (top->next == g->nodes.count) {
    stack->depth--;
    return copy(w, top->at, top->end);
  }
  proto_span place = g->nodes.data[top->next].entry;
  uint32_t node = w->arrangements[top->graph].nodes[top->next++];
  TRY(copy(w, top->at, place.begin));
  top->at = place.end;
  enter_node(stack, w, top->graph, node);
  return CALM_OK;
}

static calm_status step_node(onnx_writer *w, level_stack *stack, level *top) {
  const arrangement *a = &w->arrangements[top->graph];
  if (top->next == a->first_body[top->node + 1]) {
    stack->depth--;
    return copy(w, top->at, top->end);
  }
  uint32_t body = top->next++;
  proto_span span = w->r->graphs.data[body].span;
  TRY(copy(w, top->at, span.begin));
  top->at = span.end;
  enter_graph(stack, w, body);
  return CALM_OK;
}

static calm_status copy_graph(onnx_writer *w) {
  level_stack stack = {.depth = 0};
  enter_graph(&stack, w, 0);
  while (stack.depth) {
    level *top = &stack.levels[stack.depth - 1];
    if (top->is_graph)
      TRY(step_graph(w, &stack, top));
    else
      TRY(step_node(w, &stack, top));
  }
  return CALM_OK;
}

/* ---- The note ------------------------------------------------------------ */

static const char note_key[] = "calm";

/* A metadata entry behind everything else; fields may stand anywhere. */
static calm_status add_note(onnx_writer *w, const char *note, arena *a) {
  calm_context *context = w->r->context;
  text entry, field;
  char *written;
  text_init(&entry, context);
  text_init(&field, context);
  proto_put_string(&entry, KEY_ENTRY_KEY, note_key);
  proto_put_string(&entry, KEY_ENTRY_VALUE, note);
  proto_put_message(&field, KEY_MODEL_METADATA, &entry);
  const size_t length = field.length;
  TRY(text_finish(&field, &written));
  const char *copy = arena_string(a, written, length);
  calm_text_free(context, written);
  if (!copy) return context_no_memory(context);
  VECTOR_PUSH(context, w->out,
              (file_piece){(const uint8_t *)copy, length, false});
  return CALM_OK;
}

static calm_status is_note(bool *out, const proto_file *file, proto_span span) {
  proto_cursor c = proto_open(file, span);
  *out = false;
  while (proto_more(&c)) {
    proto_field f;
    TRY(proto_next(&f, &c));
    if (f.key != KEY_ENTRY_KEY) continue;
    *out = f.span.end - f.span.begin == sizeof note_key - 1 &&
           !memcmp(file->bytes + f.span.begin, note_key, sizeof note_key - 1);
  }
  return CALM_OK;
}

/* ---- The file ------------------------------------------------------------ */

/* An old note goes where a new one comes. */
static calm_status copy_file(onnx_writer *w) {
  const onnx_reader *r = w->r;
  proto_cursor c = proto_open(&r->file, (proto_span){0, r->file.length});
  while (proto_more(&c)) {
    proto_field f;
    bool old_note = false;
    TRY(proto_next(&f, &c));
    if (f.key == KEY_MODEL_METADATA && w->patch->note)
      TRY(is_note(&old_note, &r->file, f.span));
    if (old_note) continue;
    if (f.span.begin == r->graphs.data[0].span.begin &&
        f.span.end == r->graphs.data[0].span.end) {
      TRY(copy(w, f.all.begin, f.span.begin));
      TRY(copy_graph(w));
    } else {
      TRY(copy(w, f.all.begin, f.all.end));
    }
  }
  return CALM_OK;
}

static calm_status write_file(onnx_writer *w, const calm_model *model,
                              arena *a) {
  TRY(onnx_parse(w->r));
  TRY(arrange(w, model, a));
  TRY(copy_file(w));
  return w->patch->note ? add_note(w, w->patch->note, a) : CALM_OK;
}

/* The file is parsed again, for a model that nobody sees, and without repeating
   what was said of it the first time. */
calm_status onnx_pieces(file_pieces *out, const calm_model *model,
                        const model_patch *patch, arena *a) {
  calm_model shadow;
  onnx_reader r;
  onnx_writer w = {.r = &r,
                   .patch = patch,
                   .out = out,
                   .mapped = model->mapped && !model->altered};
  model_init(&shadow, model->context, model->path);
  shadow.map = model->map;
  shadow.fixed_weights = model->fixed_weights;
  onnx_reader_init(&r, &shadow);
  context_mute(model->context, true);
  calm_status status = write_file(&w, model, a);
  context_mute(model->context, false);
  onnx_reader_free(&r);
  model_clear(&shadow);
  return status;
}
