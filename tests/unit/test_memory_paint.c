#include "memory/memory_paint.h"
#include "memory_graphs.h"

enum { BYTES = 60, OWNERS = 4 };

/* What each byte of an arena holds. */
typedef struct canvas {
  uint32_t owner[BYTES];
  uint64_t from[BYTES];
} canvas;

static paint_segment random_segment(random_state *r) {
  const uint64_t begin = random_below(r, BYTES);
  return (paint_segment){begin,
                         begin + random_below(r, BYTES - (uint32_t)begin),
                         random_below(r, OWNERS), random_below(r, 3)};
}

static void put_on_canvas(canvas *c, const paint_segment *s) {
  for (uint64_t byte = s->begin; byte < s->end; byte++) {
    c->owner[byte] = s->owner;
    c->from[byte] = s->from + (byte - s->begin);
  }
}

static bool canvas_holds(uint64_t *out_byte, uint32_t *out_owner,
                         const canvas *c, const paint_segment *s) {
  for (uint64_t byte = s->begin; byte < s->end; byte++)
    if (c->owner[byte] != s->owner ||
        c->from[byte] != s->from + (byte - s->begin)) {
      *out_byte = byte;
      *out_owner = c->owner[byte];
      return false;
    }
  return true;
}

static void segments_are_ordered(const painting *p) {
  for (uint32_t i = 0; i < p->segments.count; i++) {
    assert_true(p->segments.data[i].begin < p->segments.data[i].end);
    if (i)
      assert_true(p->segments.data[i - 1].end <= p->segments.data[i].begin);
  }
}

static void a_painting_is_an_arena_of_bytes(void **state) {
  (void)state;
  random_state r = random_from_seed(3);
  fixture f;
  fixture_begin(&f, NULL);
  for (int round = 0; round < 2000; round++) {
    painting p = {.context = f.context};
    canvas c;
    for (int i = 0; i < BYTES; i++) c.owner[i] = CALM_NONE;
    for (int step = 0; step < 40; step++) {
      const paint_segment put = random_segment(&r), asked = random_segment(&r);
      uint64_t byte = 0, right_byte = 0;
      uint32_t owner = 0, right_owner = 0;
      assert_int_equal(painting_put(&p, put), CALM_OK);
      put_on_canvas(&c, &put);
      segments_are_ordered(&p);
      assert_true(painting_holds(&byte, &owner, &p, put));
      assert_int_equal(painting_holds(&byte, &owner, &p, asked),
                       canvas_holds(&right_byte, &right_owner, &c, &asked));
      assert_int_equal(byte, right_byte);
      assert_int_equal(owner, right_owner);
    }
    painting_free(&p);
  }
  fixture_close(&f);
}

/* A kernel that writes pixel by pixel makes one segment. */
static void what_goes_on_is_one_segment(void **state) {
  (void)state;
  fixture f;
  fixture_begin(&f, NULL);
  painting p = {.context = f.context};
  for (uint64_t i = 0; i < 1000; i++)
    assert_int_equal(
        painting_put(&p, (paint_segment){8 * i, 8 * i + 8, 1, 8 * i}), CALM_OK);
  assert_int_equal(p.segments.count, 1);
  painting_free(&p);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_painting_is_an_arena_of_bytes),
      cmocka_unit_test(what_goes_on_is_one_segment)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
