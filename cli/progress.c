#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_COLUMNS = 24, LEAST_COLUMNS = 80, LINE_BYTES = 160 };

static const double redraw_seconds = 0.1;

/* There is one terminal, and what is drawn on it. */
static struct {
  bool wanted, color, drawn;
  bool counting;      /* parts, of which each may be a search */
  double begin, last; /* of this bar; when it was drawn */
  char what[24];
} bar;

static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- The line ------------------------------------------------------------ */

/* 0:07, 12:34, 2:03:04 */
static void write_time(char *out, size_t size, double seconds) {
  const uint64_t s = (uint64_t)(seconds < 0 ? 0 : seconds + 0.5);
  if (s < 3600)
    snprintf(out, size, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
  else
    snprintf(out, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
             s / 60 % 60, s % 60);
}

static double share_of(const calm_progress *p) {
  if (p->total == 0) return 0;
  return p->done < p->total ? (double)p->done / (double)p->total : 1;
}

static void write_bar(char *out, double share) {
  const int full = (int)(share * BAR_COLUMNS);
  for (int i = 0; i < BAR_COLUMNS; i++) out[i] = i < full ? '#' : '-';
  out[BAR_COLUMNS] = '\0';
}

/* A limit ends a search at the latest; parts take as long as those before. */
static void write_line(char *out, size_t size, const calm_progress *p,
                       double elapsed) {
  char cells[BAR_COLUMNS + 1], left[32];
  const double share = share_of(p);
  write_bar(cells, share);
  if (p->limit) {
    write_time(left, sizeof left, (double)(p->total - p->done) / 1000);
    snprintf(out, size, "%s [%s] at most %s left", p->what, cells, left);
  } else if (p->done == 0) {
    snprintf(out, size, "%s [%s] 0/%" PRIu64, p->what, cells, p->total);
  } else {
    write_time(left, sizeof left, elapsed / share - elapsed);
    snprintf(out, size, "%s [%s] %" PRIu64 "/%" PRIu64 "  %.0f %%  %s left",
             p->what, cells, p->done, p->total, 100 * share, left);
  }
}

/* ---- Drawing ------------------------------------------------------------- */

static bool is_wide_enough(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0 ||
         size.ws_col >= LEAST_COLUMNS;
}

void progress_erase(void) {
  if (!bar.drawn) return;
  fputs("\r\033[K", stderr);
  bar.drawn = false;
}

static void draw(const calm_progress *p, double now) {
  char line[LINE_BYTES];
  write_line(line, sizeof line, p, now - bar.begin);
  fprintf(stderr, "\r\033[Kcalm: %s%s%s", bar.color ? "\033[36m" : "", line,
          bar.color ? "\033[0m" : "");
  fflush(stderr);
  bar.drawn = true;
  bar.last = now;
}

/* Another thing begins a bar of its own. */
static void begin(const calm_progress *p, double now) {
  snprintf(bar.what, sizeof bar.what, "%s", p->what);
  bar.begin = now;
  bar.last = now - (p->limit ? 0 : 2 * redraw_seconds);
}

static void hear(void *payload, const calm_progress *p) {
  (void)payload;
  const double now = clock_seconds();
  if (p->limit && bar.counting) return;
  bar.counting = !p->limit && p->total > 1 && p->done < p->total;
  if (strncmp(bar.what, p->what, sizeof bar.what - 1)) begin(p, now);
  if (p->done >= p->total && !p->limit)
    progress_erase();
  else if (now - bar.last >= redraw_seconds && is_wide_enough())
    draw(p, now);
}

/* ---- Is one wanted? ------------------------------------------------------ */

static bool is_wanted(const request *r) {
  const char *terminal = getenv("TERM");
  if (r->quiet || r->progress == WHEN_NEVER) return false;
  if (r->progress == WHEN_ALWAYS) return true;
  return isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
}

void progress_begin(const request *r) {
  const char *refused = getenv("NO_COLOR");
  bar.wanted = is_wanted(r);
  bar.color = r->color == WHEN_ALWAYS ||
              (r->color == WHEN_AUTO && !(refused && *refused));
  if (bar.wanted) calm_context_set_progress(r->context, hear, NULL);
}
