/*
 * Sites by name.  A list has commas between its words, but a name may have
 * commas, too: so the list is read against the names that there are.  A word
 * is the name of a site, of a concat, which stands for all sites at it, or of
 * an operator, which stands for the sites that rewrite it.
 */
#include <string.h>

#include "base/text.h"
#include "plan/plan_rewrite.h"

calm_status plan_split_words(plan_words *out, const char *list, arena *a) {
  uint32_t most = 1;
  for (const char *s = list; *s; s++) most += *s == ',';
  *out = (plan_words){0};
  ARENA_ARRAY(a, out->words, most);
  while (*list) {
    const size_t length = strcspn(list, ",");
    if (length) out->words[out->count++] = (plan_word){list, length, false};
    list += length + (list[length] == ',');
  }
  return CALM_OK;
}

/* Does the list go on with this name?  Then that many bytes are it. */
static size_t match_name(const char *text, const char *name) {
  const size_t length = strlen(name);
  if (length == 0 || strncmp(text, name, length)) return 0;
  return text[length] == ',' || text[length] == 0 ? length : 0;
}

/* What a word may be the name of, the most particular first. */
enum { OF_SITE, OF_CONCAT, OF_OPERATOR, NAMES };

static const char *name_of(const rewrite_sites *sites, uint32_t i, int which) {
  const rewrite_site *site = &sites->sites[i];
  const op_id op = which == OF_CONCAT ? site->concat : site->op;
  if (which == OF_SITE) return site->name;
  return op == CALM_NONE ? "" : sites->g->ops.data[op].name;
}

static size_t longest_match(const char *text, const rewrite_sites *sites,
                            int which) {
  size_t longest = 0;
  for (uint32_t i = 0; i < sites->count; i++) {
    const size_t length = match_name(text, name_of(sites, i, which));
    if (length > longest) longest = length;
  }
  return longest;
}

static calm_status take_sites(bool *taken, const char *text, size_t length,
                              const rewrite_sites *sites, int which) {
  const rewrite_site *refused = NULL;
  bool any = false;
  for (uint32_t i = 0; i < sites->count; i++) {
    if (match_name(text, name_of(sites, i, which)) != length) continue;
    if (sites->sites[i].refusal)
      refused = &sites->sites[i];
    else
      taken[i] = any = true;
  }
  if (any || !refused) return CALM_OK;
  return context_fail(sites->g->arena->context, CALM_MISUSE,
                      "--rewrite: '%s' cannot be rewritten: %s", refused->name,
                      refused->refusal);
}

/* The list goes on at *out behind what is read here; there is no name if it
   does not move.  A word that named a site before need not name one here. */
static calm_status take_next(bool *taken, const char **out, bool known,
                             const rewrite_sites *sites) {
  size_t longest = 0;
  int which = OF_SITE;
  for (int i = 0; i < NAMES; i++) {
    const size_t length = longest_match(*out, sites, i);
    if (length <= longest) continue;
    longest = length;
    which = i;
  }
  if (longest == 0) return CALM_OK;
  const calm_status status = take_sites(taken, *out, longest, sites, which);
  if (status && !known) return status;
  *out += longest;
  return CALM_OK;
}

/* A longer name may swallow several words. */
calm_status plan_take_named(bool *taken, plan_words *words,
                            const rewrite_sites *sites) {
  const char *past = words->count ? words->words[0].text : NULL;
  for (uint32_t i = 0; i < words->count; i++) {
    plan_word *word = &words->words[i];
    if (word->text < past) {
      word->known = true;
      continue;
    }
    past = word->text;
    TRY(take_next(taken, &past, word->known, sites));
    if (past > word->text) word->known = true;
  }
  return CALM_OK;
}

/* ---- Names that are none ------------------------------------------------- */

enum { MOST_NEAR = 4 };

/* Two texts are alike as far as they share pairs of neighbouring letters. */
static uint32_t likeness(const plan_word *word, const char *name) {
  uint32_t shared = 0;
  for (size_t i = 0; i + 1 < word->length; i++) {
    const char pair[] = {word->text[i], word->text[i + 1], 0};
    if (strstr(name, pair)) shared++;
  }
  return shared;
}

static calm_status list_near(text *out, const plan_word *word,
                             const rewrite_sites *sites, arena *a) {
  bool *told;
  ARENA_ARRAY(a, told, sites->count);
  for (int n = 0; n < MOST_NEAR; n++) {
    uint32_t nearest = CALM_NONE, most = 0;
    for (uint32_t i = 0; i < sites->count; i++) {
      const uint32_t now = 1 + likeness(word, sites->sites[i].name);
      if (told[i] || now <= most) continue;
      most = now;
      nearest = i;
    }
    if (nearest == CALM_NONE) break;
    told[nearest] = true;
    text_format(out, "%s%s", n ? ", " : "", sites->sites[nearest].name);
  }
  if (sites->count > MOST_NEAR) text_format(out, ", ...");
  return CALM_OK;
}

static bool is_mode(const plan_word *word) {
  static const char *const modes[] = {"none", "auto", "all", "paper"};
  for (int i = 0; i < 4; i++)
    if (strlen(modes[i]) == word->length &&
        !memcmp(modes[i], word->text, word->length))
      return true;
  return false;
}

static calm_status fail_word(const plan_word *word, const rewrite_sites *sites,
                             arena *a) {
  text near;
  char *list;
  if (is_mode(word))
    return context_fail(a->context, CALM_MISUSE,
                        "--rewrite: '%.*s' stands alone, or it is left out",
                        (int)word->length, word->text);
  if (sites->count == 0)
    return context_fail(a->context, CALM_MISUSE,
                        "--rewrite: '%.*s' is no site: this graph has none",
                        (int)word->length, word->text);
  text_init(&near, a->context);
  calm_status status = list_near(&near, word, sites, a);
  if (status == CALM_OK)
    status = text_finish(&near, &list);
  else
    text_free(&near);
  TRY(status);
  context_fail(a->context, CALM_MISUSE,
               "--rewrite: '%.*s' is none of none, auto, all, paper and no "
               "site; there is %s",
               (int)word->length, word->text, list);
  calm_text_free(a->context, list);
  return CALM_MISUSE;
}

calm_status plan_check_words(const plan_words *words,
                             const rewrite_sites *sites, arena *a) {
  for (uint32_t i = 0; i < words->count; i++)
    if (!words->words[i].known) return fail_word(&words->words[i], sites, a);
  if (words->count) return CALM_OK;
  return context_fail(a->context, CALM_MISUSE,
                      "--rewrite: the list of sites is empty; none, auto, all, "
                      "paper or names of sites would be right");
}
