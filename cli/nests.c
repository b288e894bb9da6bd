#include "nests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "output.h"
#include "story.h"

enum { PATH_BYTES = 4096, STEM_BYTES = 100 };

static const char problem_end[] = ".problem";
enum { PROBLEM_LENGTH = sizeof problem_end - 1 };

/* ---- Names --------------------------------------------------------------- */

bool nests_is_folder(const char *path) {
  struct stat file;
  const size_t length = strlen(path);
  if (length > 0 && path[length - 1] == '/') return true;
  return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

static bool is_plain(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+';
}

/* Also where letters differ only in case, which some systems do not tell. */
static bool is_same_stem(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    const char low_a = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
    const char low_b = *b >= 'A' && *b <= 'Z' ? (char)(*b + 32) : *b;
    if (low_a != low_b) return false;
  }
  return *a == *b;
}

/* Names of layers come from files of anybody: what is no letter, digit or
   harmless sign becomes a line, and a name that is too long ends.  What calm
   adds for the problem is no end of a name. */
static void make_stem(char *out, const char *name) {
  size_t length = 0;
  for (; *name && length < STEM_BYTES - 1; name++) {
    const bool harmless = is_plain(*name) || (*name == '.' && length > 0);
    out[length++] = harmless ? *name : '_';
  }
  if (length == 0) out[length++] = '_';
  out[length] = '\0';
  if (length <= PROBLEM_LENGTH) return;
  char *end = out + length - PROBLEM_LENGTH;
  if (is_same_stem(end, problem_end)) *end = '_';
}

static bool is_stem_of_other(const calm_mapping *mapping, uint32_t layer,
                             const char *stem) {
  calm_layer_summary s;
  char other[STEM_BYTES];
  for (uint32_t i = 0; calm_mapping_layer(&s, mapping, i); i++) {
    if (i == layer) continue;
    make_stem(other, s.name);
    if (is_same_stem(stem, other)) return true;
  }
  return false;
}

/* FOLDER/NAME.yaml, with the layer's number where names would be the same, and
   with `end` before the suffix. */
static void make_path(char *out, const char *folder,
                      const calm_mapping *mapping, uint32_t layer,
                      const char *end) {
  calm_layer_summary s = {0};
  calm_mapping_layer(&s, mapping, layer);
  char stem[STEM_BYTES], number[16] = "";
  const size_t length = strlen(folder);
  make_stem(stem, s.name);
  if (is_stem_of_other(mapping, layer, stem))
    snprintf(number, sizeof number, "%%%u", layer);
  snprintf(out, PATH_BYTES, "%s%s%s%s%s.yaml", folder,
           length && folder[length - 1] == '/' ? "" : "/", stem, number, end);
}

/* ---- Files --------------------------------------------------------------- */

static bool has_nest(const calm_layer_summary *s) {
  return s->error == CALM_OK &&
         (s->outcome == CALM_OPTIMAL || s->outcome == CALM_FEASIBLE);
}

typedef calm_status layer_text(char **out, const calm_mapping *mapping,
                               uint32_t layer);

static int write_layer(const request *r, const calm_mapping *mapping,
                       uint32_t layer, layer_text *make, const char *path) {
  char *text;
  const int code = output_check_file(r, path);
  if (code) return code;
  calm_status status = make(&text, mapping, layer);
  if (status) return story_failure(r, status);
  story_hold_interrupt();
  status = calm_text_write(r->context, path, text);
  story_let_interrupt();
  calm_text_free(r->context, text);
  return status ? story_failure(r, status) : EXIT_DONE;
}

static int make_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return EXIT_DONE;
  story_tell("%s: cannot make this folder: %s", path, strerror(errno));
  return EXIT_FILE;
}

/* A nest is of use beside its problem, which no file has if it is of a model.
 */
static int write_pair(const request *r, const calm_mapping *mapping,
                      uint32_t layer) {
  char path[PATH_BYTES];
  make_path(path, r->output, mapping, layer, "");
  const int code = write_layer(r, mapping, layer, calm_mapping_nest, path);
  if (code || r->operand_count == 0) return code;
  make_path(path, r->output, mapping, layer, problem_end);
  return write_layer(r, mapping, layer, calm_mapping_problem, path);
}

static int write_folder(const request *r, const calm_mapping *mapping) {
  calm_layer_summary s;
  int code = make_folder(r->output);
  if (code) return code;
  for (uint32_t i = 0; calm_mapping_layer(&s, mapping, i); i++) {
    if (!has_nest(&s)) continue;
    const int written = write_pair(r, mapping, i);
    if (written) code = written;
  }
  return code;
}

static bool is_of_one_layer(const emission *e) {
  return e->format == CALM_FORMAT_MAPPING || e->format == CALM_FORMAT_NEST;
}

int nests_check(const request *r) {
  const bool several = r->operand_count > 0 || r->problem_count > 1;
  const char *path =
      r->output && !nests_is_folder(r->output) ? r->output : NULL;
  for (int i = 0; i < r->emission_count && !path; i++)
    if (is_of_one_layer(&r->emissions[i])) path = r->emissions[i].path;
  if (!path || !several) return EXIT_DONE;
  story_tell(
      "%s: several layers do not go into one file; -o FOLDER/ writes a "
      "file for each",
      path);
  return EXIT_USAGE;
}

int nests_write(const request *r, const calm_mapping *mapping) {
  calm_layer_summary s;
  if (!r->output) return EXIT_DONE;
  if (nests_is_folder(r->output)) return write_folder(r, mapping);
  if (!calm_mapping_layer(&s, mapping, 0) || !has_nest(&s)) return EXIT_DONE;
  return write_layer(r, mapping, 0, calm_mapping_nest, r->output);
}
