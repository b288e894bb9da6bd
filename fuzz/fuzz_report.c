/*
 * Whatever a document holds, it is refused in one line, or it becomes a page,
 * the same one each time, in which nothing but its own end ends the data.
 */
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *make(calm_context *context, const char *json) {
  char *page = NULL;
  const calm_document document = {"it", json};
  const calm_status status = calm_report(&page, context, &document, 1, NULL);
  const char *message = calm_context_message(context);
  demand(status == CALM_OK || status == CALM_BAD_INPUT);
  demand(status == CALM_OK ||
         (!strncmp(message, "it:", 3) && !strchr(message, '\n')));
  return page;
}

static void check_page(const char *page) {
  const char *begin = strstr(page, "id=\"calm-data\">");
  demand(begin != NULL);
  const char *less = strchr(begin, '<');
  demand(less && !strncmp(less, "</script>\n<script>", 18));
}

static void try_document(const char *json) {
  calm_context *context = calm_context_new(NULL);
  if (!context) return;
  char *first = make(context, json), *second = make(context, json);
  demand(!first == !second);
  if (first) {
    check_page(first);
    demand(!strcmp(first, second));
    calm_text_free(context, first);
    calm_text_free(context, second);
  }
  demand(calm_context_bytes(context) == 0);
  calm_context_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *json = malloc(size + 1);
  if (!json) return 0;
  memcpy(json, data, size);
  json[size] = '\0';
  try_document(json);
  free(json);
  return 0;
}
