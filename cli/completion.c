#include "completion.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "opt.h"

/* ---- Options ------------------------------------------------------------- */

/* Is it "one|other", and no example such as "none|SITE,..."? */
static bool is_choices(const char *value) {
  if (!strchr(value, '|')) return false;
  for (const char *c = value; *c; c++)
    if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) &&
        !strchr("|-", *c))
      return false;
  return true;
}

static completion_kind kind_of(const calm_option_info *info) {
  if (!info->value) return COMPLETE_SWITCH;
  if (is_choices(info->value)) return COMPLETE_CHOICES;
  return strcmp(info->value, "FILE") ? COMPLETE_VALUE : COMPLETE_FILE;
}

static completion_option option_of(const calm_option_info *info, char letter) {
  return (completion_option){
      .name = info->name,
      .help = info->help,
      .value = info->value,
      .letter = letter,
      .on = !info->value && info->initial && !strcmp(info->initial, "on"),
      .kind = kind_of(info)};
}

/* The tool's own first, as in --help. */
bool completion_option_at(completion_option *out, const command *c,
                          size_t index) {
  const calm_option_info *info;
  const opt_own *own;
  for (size_t i = 0; (own = opt_own_at(i)); i++)
    if (opt_belongs(&own->info, c) && index-- == 0) {
      *out = option_of(&own->info, own->letter);
      return true;
    }
  for (size_t i = 0; (info = calm_option_at(i)); i++)
    if (opt_belongs(info, c) && index-- == 0) {
      *out = option_of(info, 0);
      return true;
    }
  return false;
}

/* ---- Operands ------------------------------------------------------------ */

completion_operands completion_operands_of(const command *c) {
  static const struct {
    const char *begin;
    completion_operands operands;
  } known[] = {{"MODEL", {NULL, "tflite onnx cg"}},
               {"--arch FILE [MODEL]", {NULL, "tflite onnx cg"}},
               {"BUFFERS.csv", {NULL, "csv"}},
               {"SWEEP.yaml", {NULL, "yaml yml"}},
               {"FILE.json", {NULL, "json"}},
               {"PAPER", {"serenity cosa", NULL}},
               {"SHELL", {"bash zsh fish", NULL}}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strncmp(c->operands, known[i].begin, strlen(known[i].begin)))
      return known[i].operands;
  return (completion_operands){NULL, NULL};
}

/* ---- Printing ------------------------------------------------------------ */

void completion_print_choices(const char *choices) {
  for (const char *c = choices; *c; c++) putchar(*c == '|' ? ' ' : *c);
}

void completion_print_quoted(const char *words, const char *escaped) {
  for (const char *c = words; *c; c++) {
    if (strchr(escaped, *c)) putchar('\\');
    if (*c == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*c);
  }
}
