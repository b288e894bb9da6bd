/* Lines that are no answers: whatever is in one, the layer is as it was, or has
   a nest that can run. */
#include "map_fixture.h"

#include "base/random.h"
#include "map_parts.h"

enum { LINE = 8192, TRIALS = 20000 };

/* A run that is ready to take lines: everything but an answer. */
typedef struct record_run {
  calm_mapping *mapping; /* of one layer, which is mapped */
  map_layer blank;
  map_run run;
  char line[LINE];
} record_run;

static void begin(record_run *r, map_fixture *f) {
  char *line;
  memset(r, 0, sizeof *r);
  assert_int_equal(map_one(&r->mapping, f, f->second), CALM_OK);
  r->run = (map_run){.mapping = r->mapping, .options = f->options};
  const map_layer *l = &r->mapping->layers[0];
  assert_int_equal(map_record_write(&line, l, &r->run), CALM_OK);
  snprintf(r->line, LINE, "%s", line);
  calm_text_free(f->context, line);
  r->blank = *l;
  r->blank.result = (mapper_result){0};
}

static void an_answer_comes_back_as_it_was(void **state) {
  map_fixture *f = *state;
  record_run r;
  char *again;
  begin(&r, f);
  const mapper_result before = r.mapping->layers[0].result;
  r.mapping->layers[0] = r.blank;
  map_layer *l = &r.mapping->layers[0];
  assert_int_equal(map_record_read(l, r.line, &r.run), CALM_OK);
  assert_int_equal(l->error, CALM_OK);
  assert_int_equal(l->result.outcome, CALM_OPTIMAL);
  assert_true(l->result.value == before.value);
  assert_true(l->result.bound == before.bound);
  assert_int_equal(l->result.states, before.states);
  assert_int_equal(l->result.cost.cycles, before.cost.cycles);
  assert_int_equal(map_record_write(&again, l, &r.run), CALM_OK);
  assert_string_equal(again, r.line);
  calm_text_free(f->context, again);
  calm_mapping_free(r.mapping);
}

/* Loops stand innermost first: an evaluation passes over those that do not. */
static void loops_have_an_order(void **state) {
  record_run r;
  char line[LINE];
  begin(&r, *state);
  const char *loops = strstr(r.line, "\"loops\":[") + strlen("\"loops\":[");
  const char *end = strstr(loops, "]]") + 1;
  const char *last = end;
  while (*--last != '[') continue;
  const char *first_end = strchr(loops, ']') + 1;
  assert_true(loops[1] != last[1]); /* of different levels */
  snprintf(line, LINE, "%.*s%.*s%.*s%.*s%s", (int)(loops - r.line), r.line,
           (int)(end - last), last, (int)(last - first_end), first_end,
           (int)(first_end - loops), loops, end);
  assert_int_equal(strlen(line), strlen(r.line));
  map_layer *l = &r.mapping->layers[0];
  *l = r.blank;
  assert_int_equal(map_record_read(l, line, &r.run), CALM_BAD_INPUT);
  calm_mapping_free(r.mapping);
}

/* Digits, letters and signs exchanged, parts left out or doubled. */
static void spoil(char *out, const char *line, random_state *random) {
  static const char signs[] = "0123456789-.,[]{}:\"n";
  const uint32_t length = (uint32_t)strlen(line);
  const uint32_t at = random_below(random, length);
  const uint32_t count = random_below(random, 12);
  snprintf(out, LINE, "%s", line);
  switch (random_below(random, 4)) {
    case 0: out[at] = signs[random_below(random, sizeof signs - 1)]; break;
    case 1: out[at] = '\0'; break;
    case 2:
      snprintf(out + at, LINE - at, "%s",
               line + (at + count < length ? at + count : length));
      break;
    default: snprintf(out + at + 1, LINE - at - 1, "%s", line + at); break;
  }
}

static void spoiled_lines_do_no_harm(void **state) {
  map_fixture *f = *state;
  record_run r;
  char line[LINE];
  uint32_t taken = 0, refused = 0, wrong = 0;
  random_state random = random_from_seed(1);
  begin(&r, f);
  const double value = r.mapping->layers[0].result.value;
  for (int i = 0; i < TRIALS; i++) {
    map_layer *l = &r.mapping->layers[0];
    *l = r.blank;
    spoil(line, r.line, &random);
    if (random_below(&random, 2)) spoil(line, r.line, &random);
    const calm_status status = map_record_read(l, line, &r.run);
    if (status) {
      assert_int_equal(status, CALM_BAD_INPUT);
      assert_memory_equal(l, &r.blank, sizeof *l);
      refused++;
    } else if (map_layer_is_mapped(l)) {
      assert_int_equal(l->result.cost.verdict.fault, COST_VALID);
      assert_true(l->result.value == value || l->result.value > 0);
      taken++;
    } else {
      wrong++;
    }
    if (i % 500 == 499) { /* what lines took stays until the mapping goes */
      calm_mapping_free(r.mapping);
      begin(&r, f);
    }
  }
  assert_true(refused > TRIALS / 2 && taken > 50 && wrong > 50);
  calm_mapping_free(r.mapping);
}

int main(void) {
  const struct CMUnitTest tests[] = {MAP_TEST(an_answer_comes_back_as_it_was),
                                     MAP_TEST(loops_have_an_order),
                                     MAP_TEST(spoiled_lines_do_no_harm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
