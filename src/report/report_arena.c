#include "report/report_arena.h"

#include <inttypes.h>

#include "report/report_identifier.h"
#include "report/report_name.h"

/* By target: as --target has it, and in words. */
static const struct {
  const char *name, *build;
} targets[] = {
    [TARGET_X86_64] = {"x86-64",
                       "tflite-micro on x86-64 with reference kernels"},
    [TARGET_32BIT] = {"32bit",
                      "tflite-micro on 32-bit Arm with reference kernels"}};

static const char *build_of(const tflm_tail *tail) {
  return targets[tail->target].build;
}

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
    text_format(out, "the tail is known for .tflite files and %s",
                build_of(tail));
    return;
  }
  text_format(out, "the tail is that of %s", build_of(tail));
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
              least, tail->bytes, least, tflm_arena_bytes(head, tail),
              build_of(tail));
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
  object = report_json_member(object, "target",
                              json_string(targets[tail->target].name));
  return report_json_member(
      object, "tail_build",
      is_known(tail) ? json_string(build_of(tail)) : json_null());
}
