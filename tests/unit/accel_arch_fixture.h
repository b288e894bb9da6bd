/*
 * Architectures as texts: what is read from them, or the message with which
 * they are refused; and what is said to the log meanwhile.
 */
#ifndef CALM_TESTS_ACCEL_ARCH_FIXTURE_H
#define CALM_TESTS_ACCEL_ARCH_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "accel/accel_arch.h"

typedef struct machine {
  calm_context *context;
  arena memory;
  accel_arch arch;
  char log[2048];
} machine;

static inline void machine_log(void *payload, calm_log_level level,
                               const char *line) {
  char *log = payload;
  (void)level;
  const size_t used = strlen(log);
  snprintf(log + used, 2048 - used, "%s\n", line);
}

static inline void machine_init(machine *m) {
  memset(m, 0, sizeof *m);
  m->context = calm_context_new(NULL);
  assert_non_null(m->context);
  calm_context_set_log(m->context, machine_log, m->log);
  arena_init(&m->memory, m->context);
}

static inline void machine_free(machine *m) {
  arena_free(&m->memory);
  calm_context_free(m->context);
}

/* `ert` is the text of a second file, NULL if there is none. */
static inline calm_status machine_try(machine *m, const char *text,
                                      const char *ert, bool energy) {
  accel_yaml *root = NULL, *tables = NULL;
  calm_status status =
      accel_yaml_parse(&root, "dir/a.b.yaml", text, strlen(text), &m->memory);
  if (status == CALM_OK && ert)
    status = accel_yaml_parse(&tables, "e.yaml", ert, strlen(ert), &m->memory);
  if (status != CALM_OK) return status;
  return accel_arch_read(&m->arch, root, tables, energy, &m->memory);
}

static inline void machine_read(machine *m, const char *text, const char *ert) {
  machine_init(m);
  const calm_status status = machine_try(m, text, ert, true);
  if (status != CALM_OK)
    print_message("%s\n", calm_context_message(m->context));
  assert_int_equal(status, CALM_OK);
}

/* The text is refused so, with these words in the message. */
static inline void expect_refused_with(const char *text, const char *ert,
                                       calm_status wanted, const char *words) {
  machine m;
  machine_init(&m);
  const calm_status status = machine_try(&m, text, ert, true);
  const char *message = calm_context_message(m.context);
  if (status != wanted || !strstr(message, words))
    fail_msg("%s\nwanted %d, %s\ngot %d, %s", text, wanted, words, status,
             status == CALM_OK ? "" : message);
  machine_free(&m);
}

static inline void expect_refused(const char *text, calm_status wanted,
                                  const char *words) {
  expect_refused_with(text, NULL, wanted, words);
}

/* Two levels of version 0.1, `attributes` being those of the inner one. */
#define FLAT(attributes)                          \
  "arch:\n"                                       \
  "  arithmetic: {instances: 12, word-bits: 8}\n" \
  "  storage:\n"                                  \
  "  - {name: Buffer, instances: 4, " attributes  \
  "}\n"                                           \
  "  - {name: DRAM, technology: DRAM, instances: 1, block-size: 4}\n"

static inline void read_flat(machine *m, const char *attributes) {
  char text[2048];
  snprintf(text, sizeof text, FLAT("%s"), attributes);
  machine_read(m, text, NULL);
}

static inline void expect_flat_refused(const char *attributes,
                                       calm_status wanted, const char *words) {
  char text[2048];
  snprintf(text, sizeof text, FLAT("%s"), attributes);
  expect_refused(text, wanted, words);
}

#define assert_real(a, b)                             \
  do {                                                \
    const double a_ = (a), b_ = (b);                  \
    if (fabs(a_ - b_) > 1e-12 * fmax(1, fabs(b_)))    \
      fail_msg("%s is %.17g, not %.17g", #a, a_, b_); \
  } while (0)

#endif
