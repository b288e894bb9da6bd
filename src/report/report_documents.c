/* calm_report: documents that programs give, read and put into a page. */
#include <string.h>

#include "report/report_page.h"

/* Deep enough for all that calm writes; jansson has a limit of its own. */
static calm_status refuse_syntax(calm_context *context, const char *name,
                                 const json_error_t *error) {
  if (json_error_code(error) == json_error_out_of_memory)
    return context_no_memory(context);
  return context_fail(context, CALM_BAD_INPUT, "%s:%d:%d: is not JSON: %s",
                      name, error->line, error->column + 1, error->text);
}

static calm_status check_schema(calm_context *context, const char *name,
                                const json_t *data) {
  const char *schema = json_string_value(json_object_get(data, "schema"));
  if (!json_is_object(data) || !schema)
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: no document of calm: it has no \"schema\"; give "
                        "what --json prints",
                        name);
  if (strncmp(schema, "calm/", 5))
    return context_fail(context, CALM_BAD_INPUT,
                        "%s: a document of '%s', and none of calm", name,
                        schema);
  return CALM_OK;
}

static calm_status read_document(report_document *out, calm_context *context,
                                 const calm_document *given) {
  json_error_t error;
  report_document d = {.name = given->name};
  d.data = json_loads(given->json, JSON_REJECT_DUPLICATES, &error);
  if (!d.data) return refuse_syntax(context, given->name, &error);
  calm_status status = check_schema(context, given->name, d.data);
  d.drawings = status ? NULL : json_array();
  if (status == CALM_OK && !d.drawings) status = context_no_memory(context);
  if (status) {
    json_decref(d.data);
    return status;
  }
  *out = d;
  return CALM_OK;
}

static void release(report_document *documents, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    json_decref(documents[i].data);
    json_decref(documents[i].drawings);
  }
}

static calm_status write_all(text *out, report_document *documents,
                             const calm_document *given, uint32_t count,
                             const char *title) {
  uint32_t read = 0;
  calm_status status = CALM_OK;
  while (read < count && status == CALM_OK) {
    status = read_document(&documents[read], out->context, &given[read]);
    if (status == CALM_OK) read++;
  }
  if (status == CALM_OK)
    status = report_page_write(out, documents, count,
                               title ? title : documents[0].name);
  release(documents, read);
  return status;
}

calm_status calm_report(char **out, calm_context *context,
                        const calm_document *documents, uint32_t count,
                        const char *title) {
  text t;
  arena scratch;
  if (count == 0)
    return context_fail(context, CALM_MISUSE, "a report of no documents");
  text_init(&t, context);
  arena_init(&scratch, context);
  report_document *read = arena_calloc(&scratch, count, sizeof *read);
  const calm_status status = read ? write_all(&t, read, documents, count, title)
                                  : context_no_memory(context);
  arena_free(&scratch);
  if (status == CALM_OK) return text_finish(&t, out);
  text_free(&t);
  return status;
}
