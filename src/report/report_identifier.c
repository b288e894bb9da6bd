#include "report/report_identifier.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char cased(char c, identifier_case letters) {
  if (letters == IDENTIFIER_UPPER && c >= 'a' && c <= 'z')
    return (char)(c - 'a' + 'A');
  if (letters == IDENTIFIER_LOWER && c >= 'A' && c <= 'Z')
    return (char)(c - 'A' + 'a');
  return c;
}

/* Two underscores in a row belong to the compiler; so one stands for whatever
   is no letter and no digit, and none at the ends. */
static char *spell(arena *a, const char *name, size_t length,
                   identifier_case letters) {
  const char *unnamed = letters == IDENTIFIER_UPPER ? "UNNAMED" : "unnamed";
  char *out = arena_calloc(a, IDENTIFIER_MOST + 1, 1);
  size_t used = 0;
  bool gap = false;
  if (!out) return NULL;
  for (size_t i = 0; i < length; i++) {
    const bool kept = is_letter(name[i]) || is_digit(name[i]);
    if (!kept) {
      gap = used > 0;
      continue;
    }
    if (used + gap + 1 > IDENTIFIER_MOST) break;
    if (gap) out[used++] = '_';
    out[used++] = cased(name[i], letters);
    gap = false;
  }
  return used ? out : strcpy(out, unnamed);
}

char *report_identifier(arena *a, const char *name, identifier_case letters) {
  return spell(a, name, strlen(name), letters);
}

const char *report_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

char *report_identifier_of_file(arena *a, const char *path,
                                identifier_case letters) {
  const char *name = report_file_name(path);
  const char *dot = strrchr(name, '.');
  return spell(a, name, dot && dot > name ? (size_t)(dot - name) : strlen(name),
               letters);
}

/* ---- Told once ----------------------------------------------------------- */

void identifiers_init(identifiers *set, arena *a) {
  *set = (identifiers){.arena = a};
  name_table_init(&set->names, a->context);
}

void identifiers_free(identifiers *set) {
  name_table_free(&set->names);
  VECTOR_FREE(set->arena->context, &set->next);
}

static calm_status add(identifiers *set, const char *word) {
  TRY(name_table_add(&set->names, word, set->next.count));
  VECTOR_PUSH(set->arena->context, &set->next, 2);
  return CALM_OK;
}

/* The numbers of a word are counted on, so that a thousand equal names do not
   try a thousand numbers each. */
calm_status identifiers_tell(const char **out, identifiers *set,
                             const char *word) {
  const uint32_t id = name_table_find(&set->names, word);
  const char *told = word;
  if (id != CALM_NONE) {
    const size_t size = strlen(word) + 12;
    char *numbered = arena_calloc(set->arena, size, 1);
    if (!numbered) return context_no_memory(set->arena->context);
    do snprintf(numbered, size, "%s_%" PRIu32, word, set->next.data[id]++);
    while (name_table_find(&set->names, numbered) != CALM_NONE);
    told = numbered;
  }
  TRY(add(set, told));
  *out = told;
  return CALM_OK;
}

/* ---- Comments ------------------------------------------------------------ */

/* Characters that only look like others, or turn the direction of writing, are
   spelled out, too: all that is not ASCII. */
void report_comment(text *out, const char *name) {
  for (const char *s = name; *s; s++) {
    const bool shown = *s >= ' ' && *s <= '~';
    const bool edge = s > name && ((*s == '/' && s[-1] == '*') ||
                                   (*s == '*' && s[-1] == '/'));
    if (shown && !edge)
      text_add(out, s, 1);
    else
      text_format(out, "\\x%02x", (unsigned char)*s);
  }
}
