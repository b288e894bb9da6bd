#include "opt.h"

#include <string.h>

#include "nearest.h"
#include "story.h"

/* ---- Finding a row ------------------------------------------------------- */

bool opt_is_among(const char *list, const char *word, size_t length) {
  while (*list) {
    const size_t item = strcspn(list, " ");
    if (item == length && !memcmp(list, word, length)) return true;
    list += item + (list[item] == ' ');
  }
  return false;
}

bool opt_belongs(const calm_option_info *info, const command *c) {
  return opt_is_among(info->verbs, c->name, strlen(c->name));
}

static bool is_named(const calm_option_info *info, const char *name,
                     size_t length) {
  return strlen(info->name) == length && !memcmp(info->name, name, length);
}

/* An option by name, whichever table it is in; *own is its row there if it is
   the tool's.  Of several rows the command's own counts. */
static const calm_option_info *find_option(const opt_own **own,
                                           const command *c, const char *name,
                                           size_t length) {
  const calm_option_info *info, *found = NULL;
  for (size_t i = 0; (*own = opt_own_at(i)); i++)
    if (is_named(&(*own)->info, name, length)) return &(*own)->info;
  for (size_t i = 0; (info = calm_option_at(i)); i++) {
    if (!is_named(info, name, length)) continue;
    if (opt_belongs(info, c)) return info;
    if (!found) found = info;
  }
  return found;
}

/* ---- Messages ------------------------------------------------------------ */

static int refuse(const request *r, const char *what, const char *word) {
  story_tell("%s '%s'; see calm %s --help", what, word, r->command->name);
  return EXIT_USAGE;
}

/* Only a switch can be `off`. */
static bool is_candidate(const request *r, const calm_option_info *info,
                         bool off) {
  return opt_belongs(info, r->command) && !(off && info->value);
}

static const char *nearest_option(const request *r, const char *name,
                                  size_t length, bool off) {
  nearest n = nearest_to(name, length);
  const calm_option_info *info;
  const opt_own *own;
  for (size_t i = 0; (own = opt_own_at(i)); i++)
    if (is_candidate(r, &own->info, off)) nearest_try(&n, own->info.name);
  for (size_t i = 0; (info = calm_option_at(i)); i++)
    if (is_candidate(r, info, off)) nearest_try(&n, info->name);
  return n.best;
}

/* "--no-budget": only switches can be off. */
static int refuse_no(const calm_option_info *info) {
  story_tell("--%s is no switch: there is no --no-%s; leave it out", info->name,
             info->name);
  return EXIT_USAGE;
}

/* What the name was perhaps meant to be; of --no-NAME, what NAME was. */
static int refuse_unknown(const request *r, const char *name, size_t length) {
  const size_t no = strlen("no-");
  const bool off = length > no && !strncmp(name, "no-", no);
  const size_t skipped = off ? no : 0;
  const char *best = nearest_option(r, name + skipped, length - skipped, off);
  if (best)
    story_tell("unknown option '--%.*s'; did you mean --%s%s?", (int)length,
               name, off ? "no-" : "", best);
  else
    story_tell("unknown option '--%.*s'; see calm %s --help", (int)length, name,
               r->command->name);
  return EXIT_USAGE;
}

/* An option that this command does not have: another's, or a slip. */
static int refuse_option(const request *r, const calm_option_info *info,
                         const char *name, size_t length) {
  const int shown = (int)length;
  if (info)
    story_tell("--%.*s is no option of calm %s; it belongs to %s", shown, name,
               r->command->name, info->verbs);
  else
    return refuse_unknown(r, name, length);
  return EXIT_USAGE;
}

/* ---- Reading words ------------------------------------------------------- */

typedef struct words {
  char **next;
  int left;
} words;

/* What stands behind '=', or the next word; NULL if there is neither. */
static const char *take_value(words *w, const char *behind) {
  if (behind || w->left == 0) return behind;
  w->left--;
  return *w->next++;
}

static int set_flag(request *r, const opt_own *own, const char *value) {
  const bool on = !strcmp(value, "on");
  if (!on && strcmp(value, "off")) {
    story_tell("--%s: '%s' is not on or off", own->info.name, value);
    return EXIT_USAGE;
  }
  *(bool *)((char *)r + own->flag) = on;
  return EXIT_DONE;
}

/* What the library will read must not be overwritten. */
static int add_input(request *r, const char *path) {
  if (r->input_count == MAX_INPUTS) {
    story_tell("no more than %d files can be read", MAX_INPUTS);
    return EXIT_USAGE;
  }
  r->inputs[r->input_count++] = path;
  return EXIT_DONE;
}

/* One of the files that options name is not read. */
static int add_file(request *r, const calm_option_info *info,
                    const char *path) {
  if (strcmp(info->name, "dump-model")) return add_input(r, path);
  r->dumped = path;
  return EXIT_DONE;
}

static int set_option(request *r, const opt_own *own,
                      const calm_option_info *info, const char *value) {
  if (own) return own->set ? own->set(r, value) : set_flag(r, own, value);
  if (!strcmp(info->value ? info->value : "", "FILE") &&
      add_file(r, info, value))
    return EXIT_USAGE;
  calm_status status = calm_options_set(r->options, info->name, value);
  return status ? story_failure(r, status) : EXIT_DONE;
}

/* "--no-energy=on": what would that be? */
static bool is_switch_off(const command *c, const char *name, size_t length) {
  const opt_own *own;
  if (length < 3 || strncmp(name, "no-", 3)) return false;
  const calm_option_info *info = find_option(&own, c, name + 3, length - 3);
  return info && !info->value;
}

static int refuse_value(const char *name, size_t length) {
  story_tell("--%.*s takes no value; leave '%s' out", (int)length, name,
             name + length);
  return EXIT_USAGE;
}

/* No file has an empty name. */
static bool is_given(const calm_option_info *info, const char *value) {
  return value && (*value || !info->value || strcmp(info->value, "FILE"));
}

/* "NAME", "NAME=VALUE", "NAME VALUE" or "no-NAME". */
static int parse_name(request *r, words *w, const char *name) {
  const opt_own *own;
  const char *equals = strchr(name, '=');
  size_t length = equals ? (size_t)(equals - name) : strlen(name);
  const char *value = equals ? equals + 1 : NULL;
  const calm_option_info *info = find_option(&own, r->command, name, length);
  if (!info && !equals && !strncmp(name, "no-", 3)) {
    info = find_option(&own, r->command, name + 3, length - 3);
    if (info && info->value) return refuse_no(info);
    if (info) value = "off";
  }
  if (!info && equals && is_switch_off(r->command, name, length))
    return refuse_value(name, length);
  if (!info || !opt_belongs(info, r->command))
    return refuse_option(r, info, name, length);
  value = info->value ? take_value(w, value) : value ? value : "on";
  if (is_given(info, value)) return set_option(r, own, info, value);
  story_tell("--%s needs a value: %s", info->name, info->value);
  return EXIT_USAGE;
}

/* "-v", "-o FILE", "-oFILE". */
static int parse_letter(request *r, words *w, const char *word) {
  const opt_own *own;
  const char *behind = word[2] ? word + 2 : NULL;
  for (size_t i = 0; (own = opt_own_at(i)); i++)
    if (own->letter == word[1]) break;
  if (!own) return refuse(r, "unknown option", word);
  if (!opt_belongs(&own->info, r->command))
    return refuse_option(r, &own->info, own->info.name, strlen(own->info.name));
  if (!own->info.value)
    return behind ? refuse(r, "unknown option", word) : set_flag(r, own, "on");
  const char *value = take_value(w, behind);
  if (value) return own->set(r, value);
  story_tell("-%c needs a value: %s", own->letter, own->info.value);
  return EXIT_USAGE;
}

static int add_operand(request *r, const char *word) {
  if (r->operand_count == r->command->most_operands)
    return refuse(r, "one operand too many:", word);
  if (!*word) return refuse(r, "an operand is empty:", word);
  r->operands[r->operand_count++] = word;
  return EXIT_DONE;
}

static int parse_word(request *r, words *w, const char *word, bool *ended) {
  if (*ended || word[0] != '-' || !word[1]) return add_operand(r, word);
  if (word[1] != '-') return parse_letter(r, w, word);
  if (word[2]) return parse_name(r, w, word + 2);
  *ended = true;
  return EXIT_DONE;
}

int opt_parse(request *r, int count, char **list) {
  words w = {list, count};
  bool ended = false;
  while (w.left) {
    const char *word = *w.next++;
    w.left--;
    const int code = parse_word(r, &w, word, &ended);
    if (code) return code;
  }
  if (!r->help && r->operand_count < r->command->least_operands)
    return refuse(r, "an operand is missing:", r->command->operands);
  return EXIT_DONE;
}
