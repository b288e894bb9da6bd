#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nests.h"
#include "opt.h"
#include "progress.h"
#include "story.h"

/* ---- What --emit can write ----------------------------------------------- */

static const struct {
  const char *name, *verbs;
  calm_format format;
} kinds[] = {{"plan", "plan", CALM_FORMAT_JSON},
             {"csv", "plan pack map", CALM_FORMAT_CSV},
             {"bufferplan", "plan", CALM_FORMAT_BUFFERPLAN},
             {"c-header", "plan", CALM_FORMAT_C_HEADER},
             {"trace", "plan", CALM_FORMAT_TRACE},
             {"model-explorer", "plan", CALM_FORMAT_MODEL_EXPLORER},
             {"traffic", "inspect plan", CALM_FORMAT_TRAFFIC},
             {"front", "plan", CALM_FORMAT_FRONT},
             {"mapping", "eval map", CALM_FORMAT_MAPPING},
             {"nest", "eval map", CALM_FORMAT_NEST},
             {"html", "inspect plan check pack eval map", CALM_FORMAT_JSON}};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static int refuse_kind(const command *c, const char *word, size_t length) {
  char known[128] = "";
  size_t used = 0;
  for (int i = 0; i < KIND_COUNT; i++)
    if (opt_is_among(kinds[i].verbs, c->name, strlen(c->name)))
      used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                               used ? ", " : "", kinds[i].name);
  story_tell("--emit: '%.*s' is not a kind of output of calm %s; there is %s",
             (int)length, word, c->name, known);
  return EXIT_USAGE;
}

/* A front is a picture, unless the file is named as a table. */
static calm_format format_of(calm_format format, const char *path) {
  const char *ending = strrchr(path, '.');
  const bool table = ending && !strcmp(ending, ".csv");
  return format == CALM_FORMAT_FRONT && table ? CALM_FORMAT_FRONT_CSV : format;
}

int output_parse_emission(emission *out, const command *c, const char *word) {
  const char *equals = strchr(word, '=');
  if (!equals) {
    story_tell("--emit: '%s' is not KIND=FILE", word);
    return EXIT_USAGE;
  }
  const size_t length = (size_t)(equals - word);
  for (int i = 0; i < KIND_COUNT; i++)
    if (strlen(kinds[i].name) == length &&
        !memcmp(kinds[i].name, word, length) &&
        opt_is_among(kinds[i].verbs, c->name, strlen(c->name))) {
      *out = (emission){equals + 1, format_of(kinds[i].format, equals + 1),
                        !strcmp(kinds[i].name, "html")};
      return EXIT_DONE;
    }
  return refuse_kind(c, word, length);
}

/* ---- Before the work ----------------------------------------------------- */

void output_open_standard(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
}

static bool is_same_inode(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_file(const char *path, const struct stat *file) {
  struct stat named;
  return path && stat(path, &named) == 0 && is_same_inode(&named, file);
}

static bool is_among(const char *const *paths, int count,
                     const struct stat *file) {
  for (int i = 0; i < count; i++)
    if (is_file(paths[i], file)) return true;
  return false;
}

static bool is_input(const request *r, const struct stat *file) {
  return is_among(r->operands, r->operand_count, file) ||
         is_among(r->inputs, r->input_count, file) ||
         is_among(r->arch, r->arch_count, file) ||
         is_among(r->mappings, r->mapping_count, file) ||
         is_among(r->problems, r->problem_count, file);
}

/* Behind /dev/stdout or /dev/stderr there may be a file that is already being
   written. */
static bool is_standard(const struct stat *file) {
  struct stat open_file;
  for (int descriptor = 0; descriptor <= 2; descriptor++)
    if (fstat(descriptor, &open_file) == 0 && S_ISREG(open_file.st_mode) &&
        open_file.st_dev == file->st_dev && open_file.st_ino == file->st_ino)
      return true;
  return false;
}

static int refuse_file(const char *path, const char *reason) {
  story_tell("%s: cannot write: %s", path, reason);
  return EXIT_FILE;
}

/* A new file, or one that is replaced, needs a directory that takes it. */
static int check_directory(const char *path) {
  char directory[4096];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (length >= sizeof directory)
    return refuse_file(path, strerror(ENAMETOOLONG));
  memcpy(directory, path, length);
  strcpy(directory + length, ".");
  return access(directory, W_OK | X_OK) ? refuse_file(path, strerror(errno))
                                        : EXIT_DONE;
}

int output_check_file(const request *r, const char *path) {
  struct stat file;
  if (!*path || !strcmp(path, "-")) {
    story_tell("'%s' is not the name of a file to be written", path);
    return EXIT_USAGE;
  }
  if (stat(path, &file)) return check_directory(path);
  if (is_input(r, &file)) {
    story_tell("%s: is an input, and is not overwritten", path);
    return EXIT_USAGE;
  }
  if (is_standard(&file)) {
    story_tell("%s: is where standard output or error goes already", path);
    return EXIT_USAGE;
  }
  if (S_ISDIR(file.st_mode)) return refuse_file(path, strerror(EISDIR));
  return S_ISREG(file.st_mode) ? check_directory(path) : EXIT_DONE;
}

/* The last part of a path, and in *directory what holds it. */
static const char *split_path(struct stat *directory, const char *path) {
  char holder[4096] = ".";
  const char *slash = strrchr(path, '/');
  if (slash)
    snprintf(holder, sizeof holder, "%.*s", (int)(slash - path) + 1, path);
  if (stat(holder, directory)) *directory = (struct stat){0};
  return slash ? slash + 1 : path;
}

/* One file by two names, whether it is there already or not. */
static bool is_same_output(const char *a, const char *b) {
  struct stat one, other;
  if (stat(a, &one) == 0 && stat(b, &other) == 0)
    return S_ISREG(one.st_mode) && is_same_inode(&one, &other);
  const char *name = split_path(&one, a);
  return !strcmp(name, split_path(&other, b)) && is_same_inode(&one, &other);
}

/* Its files are looked at when their names are known. */
static bool is_folder(const request *r) {
  if (!strcmp(r->command->name, "bench")) return true;
  return !strcmp(r->command->name, "map") && nests_is_folder(r->output);
}

int output_check_own(const request *r, const char *path, const char *what) {
  if (!path) return EXIT_DONE;
  const int code = output_check_file(r, path);
  if (code || !r->output || !is_same_output(path, r->output)) return code;
  story_tell("%s: is %s, and another output as well", path, what);
  return EXIT_USAGE;
}

/* The model that is written may be the input if that is asked for. */
static int check_model(const request *r) {
  if (r->in_place && r->output) {
    story_tell("--in-place writes over MODEL, --output elsewhere");
    return EXIT_USAGE;
  }
  if (r->in_place) return check_directory(r->operands[0]);
  if (!r->output || is_folder(r)) return EXIT_DONE;
  return output_check_file(r, r->output);
}

static bool is_named_twice(const request *r, int emission) {
  const char *path = r->emissions[emission].path;
  if (r->output && is_same_output(path, r->output)) return true;
  if (r->journal && is_same_output(path, r->journal)) return true;
  if (r->dumped && is_same_output(path, r->dumped)) return true;
  for (int other = 0; other < emission; other++)
    if (is_same_output(path, r->emissions[other].path)) return true;
  return false;
}

int output_check(const request *r) {
  int wrong = check_model(r);
  if (!wrong) wrong = output_check_own(r, r->journal, "the journal");
  if (!wrong) wrong = output_check_own(r, r->dumped, "the integer program");
  if (wrong) return wrong;
  for (int i = 0; i < r->emission_count; i++) {
    const char *path = r->emissions[i].path;
    const int code = output_check_file(r, path);
    if (code) return code;
    if (is_named_twice(r, i)) {
      story_tell("%s: is named for two outputs", path);
      return EXIT_USAGE;
    }
  }
  return EXIT_DONE;
}

int output_check_format(const request *r, const char *format) {
  static const char *const known[] = {"tflite", "onnx", "cg"};
  const char *dot = r->output ? strrchr(r->output, '.') : NULL;
  if (!dot || !strcmp(dot + 1, format)) return EXIT_DONE;
  for (int i = 0; i < 3; i++)
    if (!strcmp(dot + 1, known[i])) {
      story_tell("%s: the output has the format of the input, which is .%s",
                 r->output, format);
      return EXIT_USAGE;
    }
  return EXIT_DONE;
}

/* ---- After it ------------------------------------------------------------ */

/* What a result is about. */
static const char *source_of(const request *r) {
  if (r->operand_count) return r->operands[0];
  return r->arch_count ? r->arch[0] : r->command->name;
}

calm_status output_make_page(char **text, const request *r,
                             const char *source) {
  char *json = *text;
  const calm_document document = {source, json};
  const calm_status status = calm_report(text, r->context, &document, 1, NULL);
  calm_text_free(r->context, json);
  return status;
}

static int write_file(const request *r, const emission *e,
                      render_function *render, const void *result) {
  char *text;
  calm_status status = render(&text, result, e->format, false);
  if (status == CALM_OK && e->page)
    status = output_make_page(&text, r, source_of(r));
  if (status) return story_failure(r, status);
  story_hold_interrupt();
  status = calm_text_write(r->context, e->path, text);
  story_let_interrupt();
  calm_text_free(r->context, text);
  return status ? story_failure(r, status) : EXIT_DONE;
}

/* What was printed before may have filled the buffer and failed by itself. */
int output_text(const char *text) {
  progress_erase();
  const size_t length = strlen(text);
  if (!ferror(stdout) && fwrite(text, 1, length, stdout) == length &&
      fflush(stdout) == 0)
    return EXIT_DONE;
  story_tell("cannot write to standard output: %s", strerror(errno));
  return EXIT_FILE;
}

int output_result(const request *r, render_function *render,
                  const void *result) {
  char *text;
  for (int i = 0; i < r->emission_count; i++) {
    const int code = write_file(r, &r->emissions[i], render, result);
    if (code) return code;
  }
  const calm_format table = r->verbose ? CALM_FORMAT_LONG : CALM_FORMAT_TABLE;
  calm_status status = render(&text, result, r->json ? CALM_FORMAT_JSON : table,
                              opt_wants_color(r));
  if (status) return story_failure(r, status);
  const int code = output_text(text);
  calm_text_free(r->context, text);
  return code;
}
