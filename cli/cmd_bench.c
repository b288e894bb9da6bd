/* calm bench PAPER [-o FOLDER] */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "output.h"
#include "story.h"

static calm_status render(char **out, const void *benchmark, calm_format format,
                          bool color) {
  return calm_benchmark_render(out, benchmark, format, color);
}

/* ---- Papers -------------------------------------------------------------- */

/* The sections of the paper that is named, or of all. */
static int list_sections(const request *r) {
  calm_section_info s;
  const char *paper = "", *named = r->operand_count ? r->operands[0] : NULL;
  if (r->json) {
    story_tell("--list has no JSON form: leave out --json");
    return EXIT_USAGE;
  }
  for (size_t i = 0; calm_bench_section(&s, i); i++) {
    if (named && strcmp(named, s.paper)) continue;
    if (strcmp(paper, s.paper)) printf("%s: %s\n", s.paper, s.paper_title);
    paper = s.paper;
    printf("  %-10s %s\n", s.name, s.title);
  }
  if (*paper || !named) return EXIT_DONE;
  story_tell("there is no paper '%s'; calm bench --list lists them", named);
  return EXIT_USAGE;
}

/* ---- The folder ---------------------------------------------------------- */

static int refuse_folder(const char *path, const char *reason) {
  story_tell("%s: cannot write into this folder: %s", path, reason);
  return EXIT_FILE;
}

enum { PATH_BYTES = 4096 };

/* A path without the '/' at its end. */
static bool strip(char *out, const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length >= PATH_BYTES) return false;
  memcpy(out, path, length);
  out[length] = '\0';
  return true;
}

/* Asked before minutes of work: is it there, or can it be made? */
static int check_folder(const request *r) {
  struct stat file;
  char path[PATH_BYTES];
  if (!r->output) return EXIT_DONE;
  if (!strip(path, r->output))
    return refuse_folder(r->output, strerror(ENAMETOOLONG));
  if (!*path || stat(path, &file)) return output_check_file(r, path);
  if (!S_ISDIR(file.st_mode)) return refuse_folder(path, strerror(ENOTDIR));
  return access(path, W_OK | X_OK) ? refuse_folder(path, strerror(errno))
                                   : EXIT_DONE;
}

static int write_folder(const request *r, const calm_benchmark *benchmark) {
  if (!r->output) return EXIT_DONE;
  story_hold_interrupt();
  const calm_status status = calm_benchmark_write(benchmark, r->output);
  story_let_interrupt();
  return status ? story_failure(r, status) : EXIT_DONE;
}

/* ---- The command --------------------------------------------------------- */

/* A page of which the rest is missing replaces none. */
static int deliver(const request *r, const calm_benchmark *benchmark) {
  const bool complete = calm_benchmark_complete(benchmark);
  const char *missing = calm_benchmark_missing(benchmark);
  int code = complete ? write_folder(r, benchmark) : EXIT_INTERRUPTED;
  const int shown = output_result(r, render, benchmark);
  if (!code) code = shown;
  if (!complete)
    story_tell("interrupted: these are the sections that were complete%s",
               r->output ? "; no file was written" : "");
  if (missing) story_tell("left out: %s", missing);
  return !code && missing ? EXIT_INTERNAL : code;
}

int cmd_bench(request *r) {
  calm_benchmark *benchmark;
  if (r->list) return list_sections(r);
  if (!r->operand_count) {
    story_tell(
        "which paper?  calm bench serenity, or calm bench cosa; see "
        "calm bench --list");
    return EXIT_USAGE;
  }
  int code = check_folder(r);
  if (code) return code;
  const calm_status status =
      calm_bench(&benchmark, r->context, r->operands[0], r->options);
  if (status) return story_failure(r, status);
  code = deliver(r, benchmark);
  calm_benchmark_free(benchmark);
  return code;
}
