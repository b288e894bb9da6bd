/*
 * The text form of graphs (.cg, docs/text-form.md): reader and writer.  A file
 * may hold several graphs, the first is the entry.  Reading then writing gives
 * the same text but for comments and spacing; writing then reading gives the
 * same graphs.
 */
#ifndef CALM_GRAPH_GRAPH_TEXT_H
#define CALM_GRAPH_GRAPH_TEXT_H

#include "base/text.h"
#include "graph/graph.h"

typedef VECTOR(graph) graph_vector;

/* Do the bytes begin like a .cg file (blank and comment lines skipped)? */
bool graph_text_recognise(const char *bytes, size_t length);

/*
 * Append the graphs of a text, finished, to `out`.  Messages read
 * "PATH:LINE:COLUMN: what".  A file order that is not topological is a warning.
 * On failure the graphs added so far stay in `out` for the caller to free.
 */
calm_status graph_text_read(graph_vector *out, arena *a, const char *path,
                            const char *bytes, size_t length);

/* The text of `count` graphs.  Their names must differ, as those of tensors and
   operators within one; keys of attributes must not be `workspace` or `body`.
 */
void graph_text_write(text *out, const graph *graphs, uint32_t count);

/* One name as the text form spells it: bare or quoted. */
void graph_text_write_name(text *out, const char *name);

#endif
