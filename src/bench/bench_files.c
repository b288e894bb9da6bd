/* A run as files in a folder: each is whole or is not there. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "bench/bench_output.h"

typedef struct folder {
  calm_context *context;
  const char *path;
} folder;

/* FOLDER/NAME.END, replaced by a finished text, which is freed. */
static calm_status put(const folder *f, const char *name, const char *end,
                       text *words) {
  text path;
  const size_t length = strlen(f->path);
  text_add(words, "", 0);
  text_init(&path, f->context);
  text_format(&path, "%s%s%s.%s", f->path,
              length && f->path[length - 1] == '/' ? "" : "/", name, end);
  const calm_status status =
      words->failed || path.failed
          ? context_no_memory(f->context)
          : file_write(f->context, path.data, words->data, words->length);
  text_free(&path);
  text_free(words);
  return status;
}

static calm_status put_table(const folder *f, const bench *b,
                             const bench_table *t) {
  text words;
  text_init(&words, f->context);
  const calm_status status = bench_write_csv(&words, b, t);
  if (status == CALM_OK) return put(f, t->name, "csv", &words);
  text_free(&words);
  return status;
}

static calm_status put_figure(const folder *f, const bench_figure *figure) {
  text words;
  text_init(&words, f->context);
  text_add(&words, figure->svg, strlen(figure->svg));
  return put(f, figure->name, "svg", &words);
}

static calm_status put_page(const folder *f, const calm_benchmark *m) {
  text words;
  text_init(&words, f->context);
  const calm_status status = bench_write_page(&words, m);
  if (status == CALM_OK) return put(f, m->paper->name, "md", &words);
  text_free(&words);
  return status;
}

static calm_status make_folder(const folder *f) {
  struct stat info;
  if (mkdir(f->path, 0777) == 0) return CALM_OK;
  const int reason = errno;
  if (reason == EEXIST && stat(f->path, &info) == 0 && S_ISDIR(info.st_mode))
    return CALM_OK;
  return context_fail(f->context, CALM_IO, "%s: cannot make this folder: %s",
                      f->path, strerror(reason));
}

/* The page comes last: what it shows is there. */
calm_status calm_benchmark_write(const calm_benchmark *m, const char *path) {
  const folder f = {m->context, path};
  const bench *b = &m->run;
  TRY(make_folder(&f));
  for (uint32_t i = 0; i < b->tables.count; i++)
    TRY(put_table(&f, b, b->tables.data[i]));
  for (uint32_t i = 0; i < b->figures.count; i++)
    TRY(put_figure(&f, &b->figures.data[i]));
  return put_page(&f, m);
}
