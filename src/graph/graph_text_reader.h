/*
 * The reader of the text form, from the inside: one pass over the lines.
 * Tensors are known when they are used; operators after `after` and graphs
 * after `body=` may come later, so these references wait in lists until their
 * section, or the text, is complete.  graph_text_line.c reads single lines,
 * graph_text_read.c whole texts.
 */
#ifndef CALM_GRAPH_GRAPH_TEXT_READER_H
#define CALM_GRAPH_GRAPH_TEXT_READER_H

#include "graph/graph_lexer.h"
#include "graph/graph_text.h"

typedef struct pending_reference {
  const char *name;
  graph_place place;
  uint32_t graph; /* its index in `out` */
  op_id op;
  uint32_t slot; /* in the operator's after or bodies */
} pending_reference;

typedef VECTOR(pending_reference) pending_vector;

typedef struct reader {
  lexer lexer;
  calm_context *context;
  const char *path;
  arena *arena;  /* of the graphs */
  arena scratch; /* of names that are only looked up */
  graph_vector *out;
  uint32_t first_graph; /* of this text, in `out` */
  name_table graph_names, tensor_names, op_names;
  pending_vector afters, bodies;
  /* The line being read: */
  VECTOR(tensor_id) operands; /* inputs, then outputs */
  VECTOR(uint32_t) links;     /* after, then bodies: CALM_NONE until resolved */
  VECTOR(graph_attribute) attributes;
  VECTOR(int64_t) dimensions;
} reader;

/* The graph of the current section. */
graph *reader_graph(const reader *r);

/* Is the current token of this kind; this word, not in quotes; the last of its
   line? */
bool reader_at(const reader *r, token_kind kind);
bool reader_at_word(const reader *r, const char *word);
bool reader_at_line_end(const reader *r);

/* "expected WANTED, found ..." at the current token. */
calm_status reader_fail_expected(const reader *r, const char *wanted);

calm_status reader_expect_line_end(reader *r);

/* A name, copied into the scratch arena, and go on. */
calm_status reader_read_name(const char **out, graph_place *place, reader *r,
                             const char *wanted);

/* The rest of a line, up to its end, into the current graph. */
calm_status reader_read_tensor(reader *r);
calm_status reader_read_op(reader *r);

#endif
