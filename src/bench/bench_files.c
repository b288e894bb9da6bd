/* A run as files in a folder: each is whole or is not there. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "bench/bench_output.h"

/* FOLDER/NAME */
static calm_status join(text *out, const bench_folder *f, const char *name) {
  const size_t length = strlen(f->path);
  text_init(out, f->context);
  text_format(out, "%s%s%s", f->path,
              length && f->path[length - 1] == '/' ? "" : "/", name);
  return out->failed ? context_no_memory(f->context) : CALM_OK;
}

/* Replaced by a finished text, which is freed. */
static calm_status put(const bench_folder *f, const char *name, text *words) {
  text path;
  text_add(words, "", 0);
  calm_status status = join(&path, f, name);
  if (status == CALM_OK)
    status = words->failed ? context_no_memory(f->context)
                           : file_write(f->context, path.data, words->data,
                                        words->length);
  text_free(&path);
  text_free(words);
  return status;
}

static calm_status put_as(const bench_folder *f, const char *name,
                          const char *end, text *words) {
  text whole;
  text_init(&whole, f->context);
  text_format(&whole, "%s.%s", name, end);
  if (!whole.failed) {
    const calm_status status = put(f, whole.data, words);
    text_free(&whole);
    return status;
  }
  text_free(&whole);
  text_free(words);
  return context_no_memory(f->context);
}

static calm_status put_table(const bench_folder *f, const bench *b,
                             const bench_table *t) {
  text words;
  text_init(&words, f->context);
  const calm_status status = bench_write_csv(&words, b, t);
  if (status == CALM_OK) return put_as(f, t->name, "csv", &words);
  text_free(&words);
  return status;
}

static calm_status put_figure(const bench_folder *f,
                              const bench_figure *figure) {
  text words;
  text_init(&words, f->context);
  text_add(&words, figure->svg, strlen(figure->svg));
  return put_as(f, figure->name, "svg", &words);
}

static calm_status put_page(const bench_folder *f, const calm_benchmark *m) {
  text words;
  text_init(&words, f->context);
  const calm_status status = bench_write_page(&words, m);
  if (status == CALM_OK) return put_as(f, m->paper->name, "md", &words);
  text_free(&words);
  return status;
}

static calm_status make_folder(calm_context *context, const char *path) {
  struct stat info;
  if (mkdir(path, 0777) == 0) return CALM_OK;
  const int reason = errno;
  if (reason == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return CALM_OK;
  return context_fail(context, CALM_IO, "%s: cannot make this folder: %s", path,
                      strerror(reason));
}

static calm_status make(const bench_folder *f, const char *name) {
  text path;
  calm_status status = join(&path, f, name);
  if (status == CALM_OK) status = make_folder(f->context, path.data);
  text_free(&path);
  return status;
}

/* The page comes last: what it shows is there. */
calm_status calm_benchmark_write(const calm_benchmark *m, const char *path) {
  const bench_folder f = {m->context, path, make, put};
  const bench *b = &m->run;
  TRY(make_folder(m->context, path));
  if (m->paper->cases) TRY(m->paper->cases(b, &f));
  for (uint32_t i = 0; i < b->tables.count; i++)
    TRY(put_table(&f, b, b->tables.data[i]));
  for (uint32_t i = 0; i < b->figures.count; i++)
    TRY(put_figure(&f, &b->figures.data[i]));
  return put_page(&f, m);
}
