/* Work in several processes: what comes back, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jobs.h"
#include "base/text.h"

enum { ITEMS = 20, LARGE = 200000 };

typedef enum misdeed {
  NONE,
  DIES,     /* by a signal */
  LEAVES,   /* without a word */
  FAILS,    /* as run may */
  TALKS,    /* to the log first */
  IS_LARGE, /* more than a pipe holds */
  WAITS     /* until it is interrupted */
} misdeed;

typedef struct task {
  calm_context *context;
  misdeed misdeed; /* of the odd items */
  bool interrupts; /* the first item that comes back does so */
  pid_t process;   /* of the test */
  bool elsewhere;  /* no item ran in it */
  uint32_t taken, lost;
  char answers[ITEMS][16], reason[64], heard[256];
} task;

static void hear(void *payload, calm_log_level level, const char *line) {
  task *t = payload;
  (void)level;
  snprintf(t->heard, sizeof t->heard, "%s", line);
}

static void misbehave(task *t) {
  if (t->misdeed == DIES) raise(SIGKILL);
  if (t->misdeed == LEAVES) _exit(0);
  if (t->misdeed == TALKS)
    context_log(t->context, CALM_LOG_WARNING, "by the way");
  while (t->misdeed == WAITS && !context_interrupted(t->context))
    poll(NULL, 0, 1);
}

static calm_status run(char **out, void *payload, uint32_t item) {
  task *t = payload;
  text words;
  if (item % 2) misbehave(t);
  if (item % 2 && t->misdeed == FAILS) return context_no_memory(t->context);
  text_init(&words, t->context);
  text_format(&words, "%u %s ", item,
              getpid() == t->process ? "here" : "there");
  for (int i = 0; t->misdeed == IS_LARGE && i < LARGE; i++)
    text_add(&words, "x", 1);
  return text_finish(&words, out);
}

static calm_status take(void *payload, uint32_t item, const char *line,
                        const char *why) {
  task *t = payload;
  t->taken++;
  if (!line) {
    t->lost++;
    snprintf(t->reason, sizeof t->reason, "%s", why);
    return CALM_OK;
  }
  if (t->misdeed == IS_LARGE) assert_true(strlen(line) > LARGE);
  snprintf(t->answers[item], sizeof t->answers[item], "%s", line);
  t->elsewhere &= strstr(line, "there") != NULL;
  if (t->interrupts) calm_context_interrupt(t->context);
  return CALM_OK;
}

static int set_up(void **state) {
  static task t;
  memset(&t, 0, sizeof t);
  t.context = calm_context_new(NULL);
  t.process = getpid();
  t.elsewhere = true;
  calm_context_set_log(t.context, hear, &t);
  *state = &t;
  return 0;
}

static int tear_down(void **state) {
  task *t = *state;
  assert_int_equal(calm_context_bytes(t->context), 0);
  calm_context_free(t->context);
  return 0;
}

#define JOBS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void run_items(task *t, uint32_t jobs) {
  const jobs_work work = {t, "the task", run, take};
  assert_int_equal(jobs_run(t->context, ITEMS, jobs, &work), CALM_OK);
}

static void check_answers(const task *t, uint32_t step) {
  for (uint32_t i = 0; i < ITEMS; i += step)
    assert_int_equal(atoi(t->answers[i]), i);
}

static void all_items_come_back(void **state) {
  task *t = *state;
  run_items(t, 3);
  assert_int_equal(t->taken, ITEMS);
  assert_int_equal(t->lost, 0);
  assert_true(t->elsewhere);
  check_answers(t, 1);
}

static void more_jobs_than_items_do_no_harm(void **state) {
  task *t = *state;
  run_items(t, 5000);
  check_answers(t, 1);
}

static void a_single_job_is_done_here(void **state) {
  task *t = *state;
  run_items(t, 1);
  assert_int_equal(t->taken, ITEMS);
  assert_false(t->elsewhere);
  check_answers(t, 1);
}

static void the_dead_do_not_stop_the_others(void **state) {
  static const struct {
    misdeed misdeed;
    const char *reason;
  } cases[] = {{DIES, "the task went down with signal 9"},
               {LEAVES, "the task ended without an answer"},
               {FAILS, "the task ended without an answer"}};
  task *t = *state;
  for (int i = 0; i < 3; i++) {
    t->misdeed = cases[i].misdeed;
    t->taken = t->lost = 0;
    run_items(t, 2);
    assert_int_equal(t->taken, ITEMS);
    assert_int_equal(t->lost, ITEMS / 2);
    assert_non_null(strstr(t->reason, cases[i].reason));
    check_answers(t, 2);
  }
}

static void what_they_tell_is_told_here(void **state) {
  task *t = *state;
  t->misdeed = TALKS;
  run_items(t, 2);
  assert_string_equal(t->heard, "by the way");
  check_answers(t, 1);
}

static void an_answer_may_be_large(void **state) {
  task *t = *state;
  t->misdeed = IS_LARGE;
  run_items(t, 2);
  assert_int_equal(t->lost, 0);
  check_answers(t, 1);
}

/* Item 1 waits for the interrupt that item 0 brings about; neither is lost, and
   not all others begin. */
static void an_interrupt_is_handed_on(void **state) {
  task *t = *state;
  t->misdeed = WAITS;
  t->interrupts = true;
  run_items(t, 2);
  assert_true(t->taken >= 2 && t->taken < ITEMS);
  assert_int_equal(t->lost, 0);
  assert_int_equal(atoi(t->answers[1]), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {JOBS_TEST(all_items_come_back),
                                     JOBS_TEST(more_jobs_than_items_do_no_harm),
                                     JOBS_TEST(a_single_job_is_done_here),
                                     JOBS_TEST(the_dead_do_not_stop_the_others),
                                     JOBS_TEST(what_they_tell_is_told_here),
                                     JOBS_TEST(an_answer_may_be_large),
                                     JOBS_TEST(an_interrupt_is_handed_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
