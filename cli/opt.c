/* Words of the command line to options: the library's, from its table, and the
   tool's own. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct {
  const char *name, *value, *help;
} own[] = {{"json", NULL, "print one JSON object"},
           {"emit", "KIND=FILE", "also write a file: plan (JSON) or csv"},
           {"output", "FILE", "pack: write the CSV with offsets here (-o)"},
           {"dump", NULL, "inspect: print the model in the text form"},
           {"quiet", NULL, "no progress and no warnings"},
           {"verbose", NULL, "more of the story (-v)"},
           {"help", NULL, "this text"}};

enum { OWN_COUNT = sizeof own / sizeof *own };

static bool takes(const calm_option_info *info, const char *verb) {
  const size_t length = strlen(verb);
  for (const char *at = info->verbs; (at = strstr(at, verb)); at += length)
    if ((at == info->verbs || at[-1] == ' ') &&
        (at[length] == ' ' || at[length] == '\0'))
      return true;
  return false;
}

static const calm_option_info *find_option(const char *name, size_t length,
                                           const char *verb) {
  const calm_option_info *info;
  for (size_t i = 0; (info = calm_option_at(i)); i++)
    if (strlen(info->name) == length && !memcmp(info->name, name, length) &&
        takes(info, verb))
      return info;
  return NULL;
}

static int find_own(const char *name, size_t length) {
  for (int i = 0; i < OWN_COUNT; i++)
    if (strlen(own[i].name) == length && !memcmp(own[i].name, name, length))
      return i;
  return -1;
}

static int usage(const command *c, const char *what, const char *word) {
  fprintf(stderr, "calm: %s '%s'; see calm %s --help\n", what, word, c->name);
  return EXIT_USAGE;
}

static int set_own(settings *s, const command *c, const char *name,
                   const char *value) {
  if (!strcmp(name, "json")) s->json = true;
  if (!strcmp(name, "quiet")) s->quiet = true;
  if (!strcmp(name, "verbose")) s->verbose = true;
  if (!strcmp(name, "dump")) s->dump = true;
  if (!strcmp(name, "help")) s->help = true;
  if (!strcmp(name, "output")) s->output = value;
  if (!strcmp(name, "emit")) {
    if (strncmp(value, "plan=", 5) && strncmp(value, "csv=", 4))
      return usage(c, "--emit takes plan=FILE or csv=FILE, not", value);
    if (s->emit_count == MAX_EMITS) return usage(c, "too many --emit", value);
    s->emits[s->emit_count++] = value;
  }
  return EXIT_DONE;
}

/* The words still to be read. */
typedef struct words {
  char **at;
  int left;
} words;

/* What stands behind '=', or the next word; NULL if there is neither. */
static const char *take_value(const char *equals, words *w) {
  if (equals) return equals + 1;
  if (w->left == 0) return NULL;
  w->left--;
  return *w->at++;
}

static int set_library(arguments *a, const calm_option_info *info,
                       const char *value) {
  calm_status status = calm_options_set(a->options, info->name, value);
  return status ? report_failure(a->context, status) : EXIT_DONE;
}

static int parse_long(arguments *a, const command *c, const char *word,
                      words *w) {
  const char *name = word + 2, *equals = strchr(name, '=');
  const size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const int mine = find_own(name, length);
  const calm_option_info *info = find_option(name, length, c->name);
  const bool negated = !info && length > 3 && !strncmp(name, "no-", 3);
  if (mine >= 0) {
    const char *value = own[mine].value ? take_value(equals, w) : "";
    if (!value) return usage(c, "a value is missing behind", word);
    if (!own[mine].value && equals)
      return usage(c, "no value belongs to", word);
    return set_own(&a->settings, c, own[mine].name, value);
  }
  if (negated) info = find_option(name + 3, length - 3, c->name);
  if (!info || (negated && (info->value || equals)))
    return usage(c, "unknown option", word);
  if (!info->value)
    return set_library(a, info, negated ? "off" : equals ? equals + 1 : "on");
  const char *value = take_value(equals, w);
  if (!value) return usage(c, "a value is missing behind", word);
  return set_library(a, info, value);
}

static int parse_word(arguments *a, const command *c, const char *word,
                      words *w) {
  if (!strncmp(word, "--", 2)) return parse_long(a, c, word, w);
  if (!strcmp(word, "-o")) return parse_long(a, c, "--output", w);
  if (!strcmp(word, "-v")) return parse_long(a, c, "--verbose", w);
  if (!strcmp(word, "-h")) return parse_long(a, c, "--help", w);
  if (word[0] == '-' && word[1]) return usage(c, "unknown option", word);
  if (a->operand_count == c->most_operands)
    return usage(c, "one operand too many:", word);
  a->operands[a->operand_count++] = word;
  return EXIT_DONE;
}

int parse_arguments(arguments *out, const command *c, int count, char **list) {
  words w = {list, count};
  while (w.left) {
    const char *word = *w.at++;
    w.left--;
    const int code = parse_word(out, c, word, &w);
    if (code) return code;
  }
  if (!out->settings.help && out->operand_count < c->least_operands)
    return usage(c, "an operand is missing:", c->operands);
  return EXIT_DONE;
}

static void print_option(const char *name, const char *value,
                         const char *initial, const char *help) {
  char left[80];
  snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "",
           value ? value : "");
  printf("  %-34s %s%s", left,
         strlen(left) > 34 ? "\n                                     " : "",
         help);
  if (initial) printf(" [%s]", initial);
  putchar('\n');
}

void print_command_help(const command *c) {
  const calm_option_info *info;
  printf("calm %s %s: %s\n\n%s\n", c->name, c->operands, c->summary,
         c->examples);
  for (size_t i = 0; (info = calm_option_at(i)); i++)
    if (takes(info, c->name))
      print_option(info->name, info->value, info->initial, info->help);
  for (int i = 0; i < OWN_COUNT; i++)
    print_option(own[i].name, own[i].value, NULL, own[i].help);
}
