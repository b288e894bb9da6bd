/*
 * Processes that are copies of this one, and so have nothing to be told.  Two
 * pipes lead to each:
 *
 *   - results: lines that it writes, each a letter and a text; R is the answer,
 *     W and D are for the log
 *   - control: nothing is ever written to it.  Once this end is closed, also
 *     because this process is gone, the other one is to stop its search; a
 *     thread there waits for that
 *
 * The terminal's Ctrl-C reaches all processes, but the copies leave it to the
 * first one, which hands it on.
 */
#include "base/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"

enum {
  MOST_JOBS = 256,
  LOOK_MS = 100 /* between two looks at the interrupt */
};

typedef struct process {
  pid_t id; /* 0: none runs here */
  uint32_t item;
  int results, control; /* our ends; control -1: it was asked to stop */
  text lines;           /* what came, and is not a whole line yet */
  char *answer;         /* NULL: has not come */
} process;

typedef struct crew {
  calm_context *context;
  const jobs_work *work;
  process *processes;
  struct pollfd *polled;
  uint32_t size; /* of both */
  uint32_t running;
  bool stopping;
} crew;

uint32_t jobs_most(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > MOST_JOBS ? MOST_JOBS : (uint32_t)count;
}

/* ---- In the copy --------------------------------------------------------- */

typedef struct copy {
  calm_context *context;
  int results, control;
} copy;

static void send_bytes(int pipe, const char *bytes, size_t length) {
  while (length) {
    const ssize_t sent = write(pipe, bytes, length);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) _exit(1); /* nobody listens any more */
    bytes += sent;
    length -= (size_t)sent;
  }
}

static void send_line(const copy *c, char letter, const char *line) {
  send_bytes(c->results, &letter, 1);
  send_bytes(c->results, line, strlen(line));
  send_bytes(c->results, "\n", 1);
}

/* How one of many gets along is a detail. */
static void send_log(void *payload, calm_log_level level, const char *line) {
  send_line(payload, level == CALM_LOG_WARNING ? 'W' : 'D', line);
}

static void *await_stop(void *payload) {
  const copy *c = payload;
  char byte;
  while (read(c->control, &byte, 1) < 0 && errno == EINTR) continue;
  calm_context_interrupt(c->context);
  return NULL;
}

/* The ends of pipes to others would keep these from seeing that we are gone. */
static void close_others(const crew *all) {
  for (uint32_t i = 0; i < all->size; i++) {
    const process *p = &all->processes[i];
    if (!p->id) continue;
    close(p->results);
    if (p->control >= 0) close(p->control);
  }
}

/* Never returns: what the program does when it ends is for the first process
   to do. */
static void run_copy(const crew *all, uint32_t item, copy *c) {
  pthread_t waiting;
  char *line;
  signal(SIGINT, SIG_IGN);
  close_others(all);
  if (pthread_create(&waiting, NULL, await_stop, c)) _exit(1);
  calm_context_set_log(c->context, context_logs(c->context) ? send_log : NULL,
                       c);
  calm_context_set_progress(c->context, NULL, NULL);
  if (all->work->run(&line, all->work->payload, item)) _exit(1);
  send_line(c, 'R', line);
  _exit(0);
}

/* ---- Beginning ----------------------------------------------------------- */

static void close_pair(const int *pipe) {
  close(pipe[0]);
  close(pipe[1]);
}

static bool open_pipes(int *results, int *control) {
  if (pipe(results)) return false;
  if (pipe(control) == 0) return true;
  close_pair(results);
  return false;
}

/* False if the system gives no further process. */
static bool begin(crew *all, process *p, uint32_t item) {
  int results[2], control[2];
  if (!open_pipes(results, control)) return false;
  const pid_t id = fork();
  if (id == 0) {
    copy c = {all->context, results[1], control[0]};
    close(results[0]);
    close(control[1]);
    run_copy(all, item, &c);
  }
  close(results[1]);
  close(control[0]);
  if (id < 0) {
    close(results[0]);
    close(control[1]);
    return false;
  }
  *p = (process){id, item, results[0], control[1], .answer = NULL};
  text_init(&p->lines, all->context);
  all->running++;
  return true;
}

/* ---- Listening ----------------------------------------------------------- */

static calm_status take_line(crew *all, process *p, char *line) {
  if (line[0] == 'W' || line[0] == 'D')
    context_log(all->context,
                line[0] == 'W' ? CALM_LOG_WARNING : CALM_LOG_DETAIL, "%s",
                line + 1);
  if (line[0] != 'R' || p->answer) return CALM_OK;
  text t;
  text_init(&t, all->context);
  text_add(&t, line + 1, strlen(line + 1));
  return text_finish(&t, &p->answer);
}

/* All whole lines; the rest stays. */
static calm_status take_lines(crew *all, process *p) {
  text rest;
  char *line = p->lines.data, *end;
  if (p->lines.failed) return context_no_memory(all->context);
  if (!line) return CALM_OK;
  for (; (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    TRY(take_line(all, p, line));
  }
  text_init(&rest, all->context);
  text_add(&rest, line, strlen(line));
  text_free(&p->lines);
  p->lines = rest;
  return CALM_OK;
}

/* False at the end of what it writes. */
static bool listen_to(process *p) {
  char bytes[4096];
  const ssize_t count = read(p->results, bytes, sizeof bytes);
  if (count > 0) text_add(&p->lines, bytes, (size_t)count);
  return count > 0 || (count < 0 && errno == EINTR);
}

/* ---- Ending -------------------------------------------------------------- */

static void release(crew *all, process *p) {
  close(p->results);
  if (p->control >= 0) close(p->control);
  text_free(&p->lines);
  calm_text_free(all->context, p->answer);
  *p = (process){0};
  all->running--;
}

static void describe_end(char *out, size_t size, const char *what, int status) {
  if (WIFSIGNALED(status))
    snprintf(out, size, "%s went down with signal %d", what, WTERMSIG(status));
  else
    snprintf(out, size, "%s ended without an answer", what);
}

static calm_status end(crew *all, process *p) {
  char why[64];
  int status = 0;
  while (waitpid(p->id, &status, 0) < 0 && errno == EINTR) continue;
  describe_end(why, sizeof why, all->work->what, status);
  const calm_status taken =
      all->work->take(all->work->payload, p->item, p->answer, why);
  release(all, p);
  return taken;
}

/* After a failure of our own. */
static void abandon(crew *all) {
  for (uint32_t i = 0; i < all->size; i++) {
    process *p = &all->processes[i];
    if (!p->id) continue;
    kill(p->id, SIGKILL);
    while (waitpid(p->id, NULL, 0) < 0 && errno == EINTR) continue;
    release(all, p);
  }
}

/* ---- All of them --------------------------------------------------------- */

static void hand_on_interrupt(crew *all) {
  if (all->stopping || !context_interrupted(all->context)) return;
  all->stopping = true;
  for (uint32_t i = 0; i < all->size; i++) {
    process *p = &all->processes[i];
    if (!p->id) continue;
    close(p->control);
    p->control = -1;
  }
}

/* Until one of them has said something, or it is time to look around. */
static calm_status wait_for_some(crew *all) {
  for (uint32_t i = 0; i < all->size; i++) {
    const process *p = &all->processes[i];
    all->polled[i] =
        (struct pollfd){.fd = p->id ? p->results : -1, .events = POLLIN};
  }
  if (poll(all->polled, all->size, LOOK_MS) <= 0) return CALM_OK;
  for (uint32_t i = 0; i < all->size; i++) {
    process *p = &all->processes[i];
    if (!all->polled[i].revents) continue;
    const bool more = listen_to(p);
    TRY(take_lines(all, p));
    if (!more) TRY(end(all, p));
  }
  return CALM_OK;
}

/* Where the system gives no process, this one does it. */
static calm_status run_here(const crew *all, uint32_t item) {
  char *line;
  TRY(all->work->run(&line, all->work->payload, item));
  const calm_status status =
      all->work->take(all->work->payload, item, line, NULL);
  calm_text_free(all->context, line);
  return status;
}

static calm_status begin_more(crew *all, uint32_t *next, uint32_t count) {
  for (uint32_t i = 0; i < all->size && *next < count; i++) {
    if (all->stopping) return CALM_OK;
    if (all->processes[i].id) continue;
    if (begin(all, &all->processes[i], *next))
      ++*next;
    else if (all->running == 0)
      return run_here(all, (*next)++);
  }
  return CALM_OK;
}

static calm_status run_all(crew *all, uint32_t count) {
  uint32_t next = 0;
  while (all->running || (next < count && !all->stopping)) {
    hand_on_interrupt(all);
    TRY(begin_more(all, &next, count));
    if (all->running) TRY(wait_for_some(all));
  }
  return CALM_OK;
}

static calm_status run_all_here(const crew *all, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (context_interrupted(all->context)) break;
    TRY(run_here(all, i));
  }
  return CALM_OK;
}

calm_status jobs_run(calm_context *context, uint32_t count, uint32_t jobs,
                     const jobs_work *work) {
  crew all = {.context = context, .work = work};
  arena scratch;
  if (jobs == 0) jobs = 1;
  if (jobs == 1 && !work->apart) return run_all_here(&all, count);
  all.size = jobs < count ? jobs : count;
  if (all.size > MOST_JOBS) all.size = MOST_JOBS;
  arena_init(&scratch, context);
  all.processes = arena_calloc(&scratch, all.size, sizeof *all.processes);
  all.polled = arena_calloc(&scratch, all.size, sizeof *all.polled);
  calm_status status = all.processes && all.polled ? run_all(&all, count)
                                                   : context_no_memory(context);
  abandon(&all);
  arena_free(&scratch);
  return status;
}
