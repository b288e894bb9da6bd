#include "base/context.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { MESSAGE_BYTES = 1024 };

/* A file that the program gave; its name is a copy. */
typedef struct lent_file {
  char *name;
  size_t name_bytes;
  const void *bytes;
  size_t length;
} lent_file;

/* Raised in a signal handler or another thread. */
typedef volatile _Atomic(sig_atomic_t) interrupt_flag;

struct calm_context {
  calm_allocator allocator;
  size_t bytes;
  calm_log_function log;
  void *log_payload;
  calm_progress_function progress;
  void *progress_payload;
  bool muted;
  VECTOR(lent_file) lent;
  interrupt_flag interrupted;
  const interrupt_flag *home_interrupted; /* of a branch, else its own */
  char message[MESSAGE_BYTES];
};

static void *reallocate_by_malloc(void *payload, void *old, size_t old_size,
                                  size_t new_size) {
  (void)payload;
  (void)old_size;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  return realloc(old, new_size);
}

static void init_context(calm_context *context,
                         const calm_allocator *allocator) {
  memset(context, 0, sizeof *context);
  context->allocator = *allocator;
  context->home_interrupted = &context->interrupted;
}

calm_context *calm_context_new(const calm_allocator *allocator) {
  const calm_allocator by_malloc = {reallocate_by_malloc, NULL};
  const calm_allocator chosen = allocator ? *allocator : by_malloc;
  calm_context *context =
      chosen.reallocate(chosen.payload, NULL, 0, sizeof *context);
  if (!context) return NULL;
  init_context(context, &chosen);
  return context;
}

/* ---- Files from memory --------------------------------------------------- */

static uint32_t find_lent(const calm_context *context, const char *name) {
  for (uint32_t i = 0; i < context->lent.count; i++)
    if (!strcmp(context->lent.data[i].name, name)) return i;
  return CALM_NONE;
}

static void take_back(calm_context *context, uint32_t at) {
  lent_file *lent = &context->lent.data[at];
  context_reallocate(context, lent->name, lent->name_bytes, 0);
  *lent = context->lent.data[--context->lent.count];
  if (!context->lent.count) VECTOR_FREE(context, &context->lent);
}

static calm_status keep_lent(calm_context *context, const char *name,
                             const void *bytes, size_t length) {
  lent_file lent = {NULL, strlen(name) + 1, bytes, length};
  VECTOR_RESERVE(context, &context->lent, 1);
  lent.name = context_reallocate(context, NULL, 0, lent.name_bytes);
  if (!lent.name) return context_no_memory(context);
  memcpy(lent.name, name, lent.name_bytes);
  context->lent.data[context->lent.count++] = lent;
  return CALM_OK;
}

calm_status calm_context_lend(calm_context *context, const char *name,
                              const void *bytes, size_t length) {
  if (!*name) return context_fail(context, CALM_MISUSE, "a file needs a name");
  const uint32_t at = find_lent(context, name);
  if (at != CALM_NONE) take_back(context, at);
  return bytes ? keep_lent(context, name, bytes, length) : CALM_OK;
}

const void *context_lent(size_t *length, const calm_context *context,
                         const char *name) {
  const uint32_t at = find_lent(context, name);
  if (at == CALM_NONE) return NULL;
  *length = context->lent.data[at].length;
  return context->lent.data[at].bytes;
}

void calm_context_free(calm_context *context) {
  if (!context) return;
  while (context->lent.count) take_back(context, 0);
  assert(context->bytes == 0);
  calm_allocator allocator = context->allocator;
  allocator.reallocate(allocator.payload, context, sizeof *context, 0);
}

const char *calm_context_message(const calm_context *context) {
  return context->message;
}

size_t calm_context_bytes(const calm_context *context) {
  return context->bytes;
}

void calm_context_set_log(calm_context *context, calm_log_function function,
                          void *payload) {
  context->log = function;
  context->log_payload = payload;
}

void calm_context_set_progress(calm_context *context,
                               calm_progress_function function, void *payload) {
  context->progress = function;
  context->progress_payload = payload;
}

bool context_shows_progress(const calm_context *context) {
  return context->progress != NULL;
}

void context_progress(calm_context *context, const char *what, uint64_t done,
                      uint64_t total, bool limit) {
  const calm_progress progress = {what, done, total, limit};
  if (context->progress)
    context->progress(context->progress_payload, &progress);
}

void calm_context_interrupt(calm_context *context) { context->interrupted = 1; }

void calm_context_resume(calm_context *context) { context->interrupted = 0; }

bool context_interrupted(const calm_context *context) {
  return *context->home_interrupted != 0;
}

calm_status context_branch(calm_context **out, calm_context *home,
                           const calm_allocator *allocator) {
  calm_context *branch = context_reallocate(home, NULL, 0, sizeof *branch);
  if (!branch) return context_no_memory(home);
  init_context(branch, allocator);
  branch->home_interrupted = home->home_interrupted;
  *out = branch;
  return CALM_OK;
}

void context_branch_free(calm_context *branch, calm_context *home) {
  if (!branch) return;
  assert(branch->bytes == 0);
  context_reallocate(home, branch, sizeof *branch, 0);
}

/* The hostile build moves every block that changes its size and overwrites
   what it gives back, so that a stale pointer shows. */
static void *reallocate_hostile(const calm_allocator *allocator, void *old,
                                size_t old_size, size_t new_size) {
  enum { GARBAGE = 0xdb };
  void *block = NULL;
  if (new_size) {
    block = allocator->reallocate(allocator->payload, NULL, 0, new_size);
    if (!block) return NULL;
    memset(block, GARBAGE, new_size);
    if (old) memcpy(block, old, old_size < new_size ? old_size : new_size);
  }
  if (!old) return block;
  memset(old, GARBAGE, old_size);
  allocator->reallocate(allocator->payload, old, old_size, 0);
  return block;
}

void *context_reallocate(calm_context *context, void *old, size_t old_size,
                         size_t new_size) {
  assert(old || old_size == 0);
  if (!old && new_size == 0) return NULL;
  const calm_allocator *allocator = &context->allocator;
  void *block =
      CALM_HOSTILE
          ? reallocate_hostile(allocator, old, old_size, new_size)
          : allocator->reallocate(allocator->payload, old, old_size, new_size);
  if (block || new_size == 0) context->bytes += new_size - old_size;
  return block;
}

/* Names come from files; a line must stay one line. */
static void keep_one_line(char *line) {
  for (; *line; line++)
    if ((unsigned char)*line < 0x20 || *line == 0x7f) *line = '?';
}

calm_status context_fail(calm_context *context, calm_status status,
                         const char *format, ...) {
  assert(status != CALM_OK);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->message, MESSAGE_BYTES, format, arguments);
  va_end(arguments);
  keep_one_line(context->message);
  return status;
}

calm_status context_no_memory(calm_context *context) {
  return context_fail(context, CALM_NO_MEMORY, "out of memory");
}

bool context_logs(const calm_context *context) {
  return context->log && !context->muted;
}

void context_mute(calm_context *context, bool muted) { context->muted = muted; }

void context_log(calm_context *context, calm_log_level level,
                 const char *format, ...) {
  if (!context_logs(context)) return;
  char line[MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  keep_one_line(line);
  context->log(context->log_payload, level, line);
}
