#include "story.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"

enum { LINE_BYTES = 2048 };

/* Bytes of the character at s, 0 if no terminal should see it: a control
   character, also one of the two bytes C2 80 to C2 9F, or no UTF-8. */
static int character_bytes(const char *s) {
  const unsigned char lead = (unsigned char)s[0];
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f;
  const int bytes = lead < 0xc2 || lead > 0xf4 ? 0
                    : lead < 0xe0              ? 2
                    : lead < 0xf0              ? 3
                                               : 4;
  for (int i = 1; i < bytes; i++)
    if (((unsigned char)s[i] & 0xc0) != 0x80) return 0;
  return lead == 0xc2 && (unsigned char)s[1] < 0xa0 ? 0 : bytes;
}

void story_tell(const char *format, ...) {
  char line[LINE_BYTES], shown[4 * LINE_BYTES + 1], *to = shown;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (const char *s = line; *s;) {
    const int bytes = character_bytes(s);
    if (bytes == 0) to += sprintf(to, "\\x%02x", (unsigned char)*s++);
    for (int i = 0; i < bytes; i++) *to++ = *s++;
  }
  progress_erase();
  fprintf(stderr, "calm: %.*s\n", (int)(to - shown), shown);
}

static bool is_wanted(const request *r, calm_log_level level) {
  if (r->quiet) return false;
  switch (level) {
    case CALM_LOG_WARNING: return true;
    case CALM_LOG_PROGRESS: return r->verbose || isatty(STDERR_FILENO);
    case CALM_LOG_DETAIL: return r->verbose;
  }
  return false;
}

static void hear(void *payload, calm_log_level level, const char *line) {
  if (is_wanted(payload, level))
    story_tell("%s%s", level == CALM_LOG_WARNING ? "warning: " : "", line);
}

void story_begin(request *r) { calm_context_set_log(r->context, hear, r); }

int story_failure(const request *r, calm_status status) {
  story_tell("%s", calm_context_message(r->context));
  switch (status) {
    case CALM_OK: return EXIT_DONE;
    case CALM_MISUSE: return EXIT_USAGE;
    case CALM_BAD_INPUT:
    case CALM_UNSUPPORTED:
    case CALM_IO: return EXIT_FILE;
    case CALM_NO_MEMORY: return EXIT_LIMIT;
    case CALM_INTERNAL: return EXIT_INTERNAL;
  }
  return EXIT_INTERNAL;
}

/* A signal handler knows nothing but what stands here. */
static calm_context *volatile interruptible;
static volatile sig_atomic_t interrupted, holding;

static void end_by_signal(void) {
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

/* The second one waits for a file that is being written, whose beginning would
   stay behind; the third one waits for nothing. */
static void interrupt(int signal_number) {
  (void)signal_number;
  if (interrupted > 1 || (interrupted && !holding)) end_by_signal();
  interrupted++;
  if (interruptible) calm_context_interrupt(interruptible);
}

void story_hold_interrupt(void) { holding = 1; }

void story_let_interrupt(void) {
  holding = 0;
  if (interrupted > 1) end_by_signal();
}

void story_catch_interrupt(calm_context *context) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  interruptible = context;
  action.sa_handler = context ? interrupt : SIG_DFL;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}

bool story_interrupted(void) { return interrupted != 0; }
