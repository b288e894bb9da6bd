/* calm report FILE.json ... [-o PAGE.html] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd.h"
#include "output.h"
#include "story.h"

/* ---- Reading ------------------------------------------------------------- */

static int refuse(const char *path, const char *reason) {
  story_tell("%s: cannot read: %s", path, reason);
  return EXIT_FILE;
}

/* The rest of a file, with a NUL behind it; NULL without memory. */
static char *read_rest(FILE *file) {
  enum { FIRST_BYTES = 65536 };
  size_t length = 0, capacity = FIRST_BYTES;
  char *words = malloc(capacity);
  while (words) {
    length += fread(words + length, 1, capacity - length - 1, file);
    if (length + 1 < capacity) break;
    char *grown = realloc(words, capacity *= 2);
    if (!grown) free(words);
    words = grown;
  }
  if (words) words[length] = '\0';
  return words;
}

static int read_open(char **out, FILE *file, const char *path) {
  struct stat info;
  if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
    return refuse(path, strerror(EISDIR));
  char *words = read_rest(file);
  if (!words) return refuse(path, strerror(ENOMEM));
  if (ferror(file)) {
    free(words);
    return refuse(path, strerror(errno));
  }
  *out = words;
  return EXIT_DONE;
}

static int read_file(char **out, const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return refuse(path, strerror(errno));
  const int code = read_open(out, file, path);
  fclose(file);
  return code;
}

/* ---- Writing ------------------------------------------------------------- */

static int put(const request *r, const char *page) {
  if (!r->output) return output_text(page);
  story_hold_interrupt();
  const calm_status status = calm_text_write(r->context, r->output, page);
  story_let_interrupt();
  return status ? story_failure(r, status) : EXIT_DONE;
}

static int make(const request *r, const calm_document *documents) {
  char *page;
  const calm_status status = calm_report(&page, r->context, documents,
                                         (uint32_t)r->operand_count, r->title);
  if (status) return story_failure(r, status);
  const int code = put(r, page);
  calm_text_free(r->context, page);
  return code;
}

int cmd_report(request *r) {
  calm_document documents[MAX_OPERANDS];
  char *words[MAX_OPERANDS];
  int code = EXIT_DONE, count = 0;
  for (; count < r->operand_count; count++) {
    code = read_file(&words[count], r->operands[count]);
    if (code) break;
    documents[count] = (calm_document){r->operands[count], words[count]};
  }
  if (!code) code = make(r, documents);
  while (count) free(words[--count]);
  return code;
}
