#include "report/report_csv.h"

#include <string.h>

#include "report/report_name.h"

void report_csv_field(text *out, const char *field) {
  const bool quoted = field[strcspn(field, ",\"\r\n")] != '\0';
  if (quoted) text_add(out, "\"", 1);
  for (; *field; field++) {
    if (*field == '"') text_add(out, "\"", 1);
    text_add(out, field, 1);
  }
  if (quoted) text_add(out, "\"", 1);
}

calm_status report_csv_name(text *out, const char *name, arena *scratch) {
  const char *safe = report_name_escaped(scratch, name, ESCAPE_CONTROL);
  if (!safe) return context_no_memory(scratch->context);
  report_csv_field(out, safe);
  return CALM_OK;
}
