#include "report/report_arena.h"

#include <inttypes.h>

#include "report/report_identifier.h"
#include "report/report_name.h"

static const char build[] = "tflite-micro on x86-64 with reference kernels";

static bool is_known(const tflm_tail *tail) {
  return tail->bytes != UINT64_MAX;
}

void report_arena(text *out, uint64_t head, const tflm_tail *tail) {
  const char *least = tail->exact ? "" : "at least ";
  text_format(out, "head %s bytes, tail ", report_number(head).text);
  if (!is_known(tail)) {
    text_format(out, "not known");
    return;
  }
  text_format(out, "%s%s bytes", least, report_number(tail->bytes).text);
  text_format(out, ", in all %s%s bytes", least,
              report_number(tflm_arena_bytes(head, tail)).text);
}

void report_tail_build(text *out, const tflm_tail *tail) {
  if (!is_known(tail)) {
    text_format(out, "the tail is known for .tflite files and %s", build);
    return;
  }
  text_format(out, "the tail is that of %s", build);
  if (!tail->exact)
    text_format(out, ", as far as it is known (not: %s)", tail->reason);
}

void report_arena_comment(text *out, uint64_t head, const tflm_tail *tail) {
  const char *least = tail->exact ? "" : "at least ";
  text_format(out, " * The runtime's arena has a head of %" PRIu64 " bytes",
              head);
  if (!is_known(tail)) {
    text_format(out, " and a tail that is\n * not known here.\n");
    return;
  }
  text_format(out,
              " and a tail of\n * %s%" PRIu64 ", in all %s%" PRIu64
              ".  The tail is that of\n * %s",
              least, tail->bytes, least, tflm_arena_bytes(head, tail), build);
  if (!tail->exact) {
    text_format(out, ", without what\n * is not known: ");
    report_comment(out, tail->reason);
  }
  text_format(out, ".\n");
}

json_t *report_json_arena(json_t *object, uint64_t head,
                          const tflm_tail *tail) {
  object = report_json_member(object, "head_bytes", report_json_number(head));
  object = report_json_member(object, "tail_bytes",
                              report_json_optional(tail->bytes));
  object = report_json_member(object, "tail_exact", json_boolean(tail->exact));
  object = report_json_member(
      object, "arena_bytes",
      report_json_optional(is_known(tail) ? tflm_arena_bytes(head, tail)
                                          : UINT64_MAX));
  return report_json_member(object, "tail_build",
                            is_known(tail) ? json_string(build) : json_null());
}
