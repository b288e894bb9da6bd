/*
 * Any bytes are either refused with a message or read as graphs, and then
 * writing them, reading that and writing again gives the same text.  Reading
 * twice gives the same, and nothing is left behind.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "demand.h"
#include "graph/graph_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text of what was read; NULL if it was refused. */
static char *rewrite(calm_context *context, const char *bytes, size_t length) {
  graph_vector graphs = {NULL, 0, 0};
  arena arena;
  arena_init(&arena, context);
  char *out = NULL;
  if (graph_text_read(&graphs, &arena, "fuzz", bytes, length) == CALM_OK) {
    text text;
    text_init(&text, context);
    graph_text_write(&text, graphs.data, graphs.count);
    demand(text_finish(&text, &out) == CALM_OK);
  } else {
    demand(*calm_context_message(context) != '\0');
  }
  for (uint32_t i = 0; i < graphs.count; i++) graph_free(&graphs.data[i]);
  VECTOR_FREE(context, &graphs);
  arena_free(&arena);
  return out;
}

static void check_fixed_point(calm_context *context, const char *text) {
  demand(graph_text_recognise(text, strlen(text)));
  char *again = rewrite(context, text, strlen(text));
  demand(again && !strcmp(text, again));
  calm_text_free(context, again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  calm_context *context = calm_context_new(NULL);
  if (!context) return 0;
  char *first = rewrite(context, (const char *)data, size);
  char *second = rewrite(context, (const char *)data, size);
  demand(!first == !second && (!first || !strcmp(first, second)));
  if (first) check_fixed_point(context, first);
  calm_text_free(context, first);
  calm_text_free(context, second);
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
  return 0;
}
