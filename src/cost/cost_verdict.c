/* Verdicts in words: one line a person can act on, with both numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cost/cost.h"

typedef struct fault_row {
  const char *name, *sentence;
} fault_row;

static const fault_row rows[] = {
    {NULL, "valid"},
#define FAULT(id, name, sentence) {name, sentence},
#include "cost/cost_faults.def"
#undef FAULT
};

const char *cost_fault_name(cost_fault fault) { return rows[fault].name; }

/* ---- What stands in a sentence ------------------------------------------- */

/* A verdict that is told. */
typedef struct telling {
  const cost_verdict *verdict;
  const cost_problem *problem;
} telling;

/* 77824 as "77,824". */
static void say_number(text *out, uint64_t n) {
  char plain[24];
  const int length = snprintf(plain, sizeof plain, "%" PRIu64, n);
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) text_add(out, ",", 1);
    text_add(out, &plain[i], 1);
  }
}

static void say_needed(text *out, const telling *t) {
  say_number(out, t->verdict->needed);
}

static void say_available(text *out, const telling *t) {
  say_number(out, t->verdict->available);
}

static void say_words(text *out, const telling *t) {
  say_number(out, t->verdict->tensor_words);
}

static void say_level(text *out, const telling *t) {
  const accel_arch *arch = t->problem->arch;
  const uint32_t level = t->verdict->level;
  text_format(
      out, "%s",
      level == CALM_NONE ? arch->compute.name : arch->levels[level].name);
}

static void say_tensor(text *out, const telling *t) {
  text_format(out, "%s", t->problem->layer->tensors[t->verdict->tensor].name);
}

static void say_dimension(text *out, const telling *t) {
  const accel_layer *layer = t->problem->layer;
  text_format(out, "%s", layer->dimensions[t->verdict->dimension].name);
}

static void say_place(text *out, const telling *t) {
  if (t->verdict->level != CALM_NONE) {
    say_level(out, t);
    text_format(out, ": ");
  }
  if (t->verdict->tensor != CALM_NONE)
    say_tensor(out, t);
  else
    text_format(out, "the nest");
}

static const struct {
  const char *name;
  void (*say)(text *out, const telling *t);
} fields[] = {
    {"{needed}", say_needed}, {"{available}", say_available},
    {"{words}", say_words},   {"{level}", say_level},
    {"{tensor}", say_tensor}, {"{dimension}", say_dimension},
    {"{place}", say_place},
};

/* ---- The sentence -------------------------------------------------------- */

/* The field at the beginning of `sentence`, or its first character as it is;
   how long that is there. */
static size_t say_field(text *out, const telling *t, const char *sentence) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const size_t length = strlen(fields[i].name);
    if (strncmp(sentence, fields[i].name, length)) continue;
    fields[i].say(out, t);
    return length;
  }
  text_add(out, sentence, 1);
  return 1;
}

void cost_verdict_text(text *out, const cost_verdict *v,
                       const cost_problem *p) {
  const telling t = {v, p};
  const char *rest = rows[v->fault].sentence;
  while (*rest) {
    const size_t plain = strcspn(rest, "{");
    text_add(out, rest, plain);
    rest += plain;
    if (*rest) rest += say_field(out, &t, rest);
  }
}
