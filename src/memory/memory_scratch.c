/*
 * Scratch of every operator of a model.  What the file of --scratch says comes
 * first:
 *
 *     # bytes of each buffer, in the order in which the kernel asks for them
 *     12_CONV_2D 4608
 *     13_SVDF 1K 256
 *     graph body          (operators of another graph from here on)
 *     0_ADD 0
 *
 * (one line for an operator, SCRATCH_MOST buffers on it at most, as the runtime
 * refuses more), then the workspace that the graph itself gives an operator,
 * then the table.
 */
#include "memory/memory_scratch.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"
#include "graph/graph_lexer.h"
#include "memory/memory_tflm.h"

/* What a line says of an operator: sizes[begin .. begin + count]. */
typedef struct told {
  bool given;
  uint32_t begin, count;
} told;

typedef struct builder {
  const graph *graphs;
  uint32_t graph_count;
  kernel_library library;
  calm_context *context;
  memory_scratch out;
  told *told; /* per operator of all graphs */
  VECTOR(uint64_t) told_sizes;
  VECTOR(uint64_t) sizes; /* of all operators so far */
} builder;

/* ---- The file ------------------------------------------------------------ */

typedef struct scratch_reader {
  builder *b;
  lexer lexer;
  uint32_t graph;    /* that the lines speak of */
  name_table graphs; /* name -> number */
  name_table ops;    /* of that graph */
} scratch_reader;

static calm_status fail_expected(const scratch_reader *r, const char *wanted) {
  return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                    "expected %s", wanted);
}

static bool at(const scratch_reader *r, token_kind kind) {
  return r->lexer.token.kind == kind;
}

static calm_status index_ops(scratch_reader *r, uint32_t number) {
  const graph *g = &r->b->graphs[number];
  name_table_free(&r->ops);
  name_table_init(&r->ops, r->b->context);
  r->graph = number;
  for (op_id op = 0; op < g->ops.count; op++)
    TRY(name_table_add(&r->ops, g->ops.data[op].name, op));
  return CALM_OK;
}

static calm_status index_graphs(scratch_reader *r) {
  for (uint32_t i = 0; i < r->b->graph_count; i++)
    if (name_table_find(&r->graphs, r->b->graphs[i].name) == CALM_NONE)
      TRY(name_table_add(&r->graphs, r->b->graphs[i].name, i));
  return index_ops(r, 0);
}

static calm_status expect_name(const scratch_reader *r, const char *wanted) {
  if (at(r, TOKEN_NAME)) return CALM_OK;
  return fail_expected(r, wanted);
}

static calm_status read_graph(scratch_reader *r) {
  TRY(lexer_next(&r->lexer));
  TRY(expect_name(r, "the name of a graph"));
  const uint32_t number = name_table_find(&r->graphs, r->lexer.token.text);
  if (number == CALM_NONE)
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "the model has no graph '%s'", r->lexer.token.text);
  TRY(index_ops(r, number));
  return lexer_next(&r->lexer);
}

/* A buffer more, if the runtime has that many and their sum is sane. */
static calm_status read_size(scratch_reader *r, told *t, uint64_t *sum) {
  uint64_t bytes;
  if (!number_parse_size(&bytes, r->lexer.token.text))
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "'%s' is not a number of bytes", r->lexer.token.text);
  if (t->count++ == SCRATCH_MOST)
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "a kernel can ask for %d scratch buffers at most",
                      SCRATCH_MOST);
  if (!number_add(sum, *sum, number_round_up(bytes, TFLM_ALIGN)))
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "the scratch of one operator exceeds 2^62 bytes");
  VECTOR_PUSH(r->b->context, &r->b->told_sizes, bytes);
  return lexer_next(&r->lexer);
}

static calm_status read_operator(scratch_reader *r) {
  const op_id op = name_table_find(&r->ops, r->lexer.token.text);
  if (op == CALM_NONE)
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "no operator '%s' in the graph '%s'", r->lexer.token.text,
                      r->b->graphs[r->graph].name);
  told *t = &r->b->told[r->b->out.op_begin[r->graph] + op];
  if (t->given)
    return graph_fail(r->b->context, r->lexer.path, r->lexer.token.place,
                      "operator '%s' of the graph '%s' has its line already",
                      r->lexer.token.text, r->b->graphs[r->graph].name);
  *t = (told){.given = true, .begin = r->b->told_sizes.count};
  TRY(lexer_next(&r->lexer));
  TRY(expect_name(r, "the bytes of its scratch buffers"));
  uint64_t sum = 0;
  while (at(r, TOKEN_NAME)) TRY(read_size(r, t, &sum));
  return CALM_OK;
}

static calm_status read_lines(scratch_reader *r) {
  TRY(index_graphs(r));
  TRY(lexer_next(&r->lexer));
  while (!at(r, TOKEN_END_OF_TEXT)) {
    const bool section = !r->lexer.token.quoted && at(r, TOKEN_NAME) &&
                         !strcmp(r->lexer.token.text, "graph");
    if (!at(r, TOKEN_END_OF_LINE)) {
      TRY(expect_name(r, "the name of an operator"));
      TRY(section ? read_graph(r) : read_operator(r));
    }
    if (at(r, TOKEN_END_OF_TEXT)) break;
    if (!at(r, TOKEN_END_OF_LINE))
      return fail_expected(r, "the end of the line");
    TRY(lexer_next(&r->lexer));
  }
  return CALM_OK;
}

static calm_status read_file(builder *b, const char *path) {
  file_map map;
  scratch_reader r = {.b = b};
  if (!path) return CALM_OK;
  TRY(file_map_open(&map, b->context, path));
  lexer_init(&r.lexer, b->context, path, (const char *)map.bytes, map.length);
  name_table_init(&r.graphs, b->context);
  name_table_init(&r.ops, b->context);
  calm_status status = read_lines(&r);
  name_table_free(&r.graphs);
  name_table_free(&r.ops);
  lexer_free(&r.lexer);
  file_map_close(&map);
  return status;
}

/* ---- Operators ----------------------------------------------------------- */

static calm_status push_sizes(builder *b, const uint64_t *sizes,
                              uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (sizes[i]) VECTOR_PUSH(b->context, &b->sizes, sizes[i]);
  return CALM_OK;
}

static calm_status push_by_table(builder *b, const graph *g,
                                 const graph_op *op) {
  scratch_request request = {.count = 0};
  scratch_function *ask = scratch_find(b->library, op);
  if (!ask) return CALM_OK;
  if (ask(&request, g, op)) return push_sizes(b, request.bytes, request.count);
  context_log(b->context, CALM_LOG_WARNING,
              "operator '%s' (%s) of the graph '%s' asks for scratch that is "
              "not known: none is counted; --scratch FILE can tell it",
              op->name, op->kind_name, g->name);
  return CALM_OK;
}

static calm_status push_operator(builder *b, const graph *g, op_id id,
                                 const told *t) {
  const graph_op *op = &g->ops.data[id];
  if (t->given) return push_sizes(b, b->told_sizes.data + t->begin, t->count);
  if (op->workspace_bytes) return push_sizes(b, &op->workspace_bytes, 1);
  return push_by_table(b, g, op);
}

static calm_status number_ops(builder *b, arena *a) {
  uint64_t ops = 0;
  ARENA_ARRAY(a, b->out.op_begin, (size_t)b->graph_count + 1);
  for (uint32_t i = 0; i < b->graph_count; i++) {
    ops += b->graphs[i].ops.count;
    if (ops > INT32_MAX)
      return context_fail(b->context, CALM_UNSUPPORTED,
                          "more than 2^31 operators in all graphs together");
    b->out.op_begin[i + 1] = (uint32_t)ops;
  }
  ARENA_ARRAY(a, b->told, ops);
  ARENA_ARRAY(a, b->out.begin, ops + 1);
  return CALM_OK;
}

static calm_status build(builder *b, const char *path, arena *a) {
  uint32_t number = 0;
  TRY(number_ops(b, a));
  TRY(read_file(b, path));
  for (uint32_t i = 0; i < b->graph_count; i++)
    for (op_id op = 0; op < b->graphs[i].ops.count; op++) {
      TRY(push_operator(b, &b->graphs[i], op, &b->told[number]));
      b->out.begin[++number] = b->sizes.count;
    }
  ARENA_ARRAY(a, b->out.bytes, b->sizes.count);
  if (b->sizes.count)
    memcpy(b->out.bytes, b->sizes.data, b->sizes.count * sizeof *b->out.bytes);
  return CALM_OK;
}

calm_status memory_scratch_build(memory_scratch *out, const graph *graphs,
                                 uint32_t count, kernel_library library,
                                 const char *path, arena *a) {
  builder b = {.graphs = graphs,
               .graph_count = count,
               .library = library,
               .context = a->context};
  calm_status status = build(&b, path, a);
  VECTOR_FREE(b.context, &b.told_sizes);
  VECTOR_FREE(b.context, &b.sizes);
  if (status == CALM_OK) *out = b.out;
  return status;
}

calm_status memory_scratch_sum(uint64_t *out, const memory_scratch *scratch,
                               uint32_t number, uint64_t unit,
                               calm_context *context) {
  uint64_t sum = 0;
  for (uint32_t i = scratch->begin[number]; i < scratch->begin[number + 1]; i++)
    if (!number_add(&sum, sum, number_round_up(scratch->bytes[i], unit)))
      return context_fail(context, CALM_BAD_INPUT,
                          "the scratch of one operator exceeds 2^62 bytes");
  *out = sum;
  return CALM_OK;
}
