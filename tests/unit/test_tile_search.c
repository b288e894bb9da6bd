/* The search among tilings against all tilings, under a judge that is only
   arithmetic: chains of random sizes, at most two regions. */
#include "tile/tile_search.h"

#include "base/random.h"
#include "graph_fixture.h"

enum { OPS = 9, MOST_ROWS = 6, NETS = 8, MOST_ALL = 1 << 22 };

typedef struct chain {
  fixture f;
  const graph *g;
  uint64_t bytes[OPS + 1]; /* of tensor i, which operator i reads */
  uint64_t macs[OPS];
  uint32_t asked;
} chain;

/* A chain of convolutions that halve a picture of 64 rows here and there. */
static void open_chain(chain *c, uint64_t seed) {
  random_state r = random_from_seed(seed);
  char tensors[2048], ops[2048], text[4200];
  uint32_t size = 64, before = 3;
  int t = snprintf(tensors, sizeof tensors, "tensor t0 i8[1,64,64,3] input\n");
  int o = 0;
  memset(c, 0, sizeof *c);
  fixture_open(&c->f, NULL);
  c->bytes[0] = 64 * 64 * 3;
  for (uint32_t i = 0; i < OPS; i++) {
    const uint32_t stride = size > 16 && random_below(&r, 3) == 0 ? 2 : 1;
    const uint32_t channels = 4 + random_below(&r, 28);
    size /= stride;
    c->bytes[i + 1] = (uint64_t)size * size * channels;
    c->macs[i] = c->bytes[i + 1] * (1 + random_below(&r, 200));
    t += snprintf(tensors + t, sizeof tensors - (size_t)t,
                  "tensor w%u i8[%u,3,3,%u] const\n"
                  "tensor t%u i8[1,%u,%u,%u]%s\n",
                  i, channels, before, i + 1, size, size, channels,
                  i + 1 == OPS ? " output" : "");
    o += snprintf(ops + o, sizeof ops - (size_t)o,
                  "op c%u conv2d ( t%u w%u - ) -> ( t%u ) stride=%u,%u "
                  "pad=same\n",
                  i, i, i, i + 1, stride, stride);
    before = channels;
  }
  snprintf(text, sizeof text, "calm-graph 1\ngraph g\n%s%s", tensors, ops);
  fixture_must_read(&c->f, text);
  c->g = &c->f.graphs.data[0];
}

/* ---- The judge ----------------------------------------------------------- */

static void note(tile_score *out, uint64_t bytes, uint32_t position) {
  if (bytes <= out->head_bytes) return;
  out->head_bytes = bytes;
  out->critical = position;
}

/* The deeper a region, the more is computed again for each tile. */
static void run_region(tile_score *out, const chain *c, const tile_region *r) {
  const uint64_t from = c->bytes[r->first], made = c->bytes[r->last + 1];
  const uint64_t whole = from > made ? from : made;
  const uint64_t tiles = (uint64_t)r->rows * r->columns;
  for (uint32_t i = r->first; i <= r->last; i++) {
    const uint64_t depth = r->last - i;
    const uint64_t halo =
        r->mode == TILE_CACHE ? 0 : depth + (r->mode == TILE_SAME);
    uint64_t inner = i > r->first ? c->bytes[i] : 0;
    if (i < r->last) inner += c->bytes[i + 1];
    note(out, whole + inner / tiles + inner * halo / 64, i);
    out->macs += c->macs[i] + c->macs[i] * halo * (tiles - 1) / 64;
    out->op_count += (uint32_t)tiles * (r->mode == TILE_SAME  ? 1
                                        : r->mode == TILE_PAD ? 2
                                                              : 3);
  }
}

static calm_status judge_score(tile_score *out, bool *possible, void *payload,
                               const tile_region *regions, uint32_t count) {
  chain *c = payload;
  tile_score score = {0};
  uint32_t next = 0;
  c->asked++;
  *possible = true;
  for (uint32_t i = 0; i < OPS; i++) {
    if (next < count && i == regions[next].first) {
      run_region(&score, c, &regions[next]);
      if (regions[next].mode == TILE_SAME && regions[next].rows % 2)
        *possible = false;
      i = regions[next++].last;
      continue;
    }
    note(&score, c->bytes[i] + c->bytes[i + 1], i);
    score.macs += c->macs[i];
    score.op_count++;
  }
  assert_int_equal(next, count);
  score.tail_bytes = 100 * (uint64_t)score.op_count;
  *out = score;
  return CALM_OK;
}

/* ---- All tilings --------------------------------------------------------- */

typedef struct optimum {
  chain *c;
  const tile_goal *goal;
  uint64_t value; /* arena, or extra macs where a budget is kept */
} optimum;

static uint64_t arena_of(const tile_goal *goal, const tile_score *s) {
  return s->head_bytes + (goal->head ? 0 : s->tail_bytes);
}

/* Less is better; what does not fit is worse than all that does. */
static uint64_t value_of(const tile_goal *goal, const tile_score *s) {
  const uint64_t arena = arena_of(goal, s);
  if (goal->budget_bytes == UINT64_MAX) return arena;
  return arena <= goal->budget_bytes ? s->macs : (UINT64_C(1) << 60) + arena;
}

static void try_all(optimum *o, const tile_region *regions, uint32_t count) {
  tile_score score;
  bool possible;
  judge_score(&score, &possible, o->c, regions, count);
  if (!possible || (count && score.macs > o->goal->most_macs)) return;
  const uint64_t value = value_of(o->goal, &score);
  if (value < o->value) o->value = value;
}

static void vary(optimum *o, tile_region *regions, uint32_t count,
                 uint32_t from) {
  try_all(o, regions, count);
  if (count == 2) return;
  tile_region *r = &regions[count];
  for (r->first = from; r->first < OPS; r->first++)
    for (r->last = r->first; r->last < OPS; r->last++)
      for (int mode = 0; mode < TILE_MODES; mode++)
        for (uint32_t rows = 2; rows <= MOST_ROWS; rows++) {
          r->rows = rows;
          r->columns = 1;
          r->mode = (tile_mode)mode;
          vary(o, regions, count + 1, r->last + 1);
        }
}

static uint64_t least(chain *c, const tile_goal *goal) {
  tile_region regions[2];
  optimum o = {c, goal, UINT64_MAX};
  vary(&o, regions, 0, 0);
  return o.value;
}

/* ---- Tests --------------------------------------------------------------- */

static void search(tile_choice *out, chain *c, const tile_goal *goal,
                   uint64_t ticks) {
  const tile_judge judge = {c, judge_score};
  limits l;
  limits_init(&l, c->f.context);
  l.max_ticks = ticks;
  assert_int_equal(tile_search(out, c->g, &judge, goal, 1, &l, &c->f.arena),
                   CALM_OK);
}

static void expect_front(const tile_choice *choice, chain *c,
                         const tile_goal *goal) {
  bool untiled = false;
  for (uint32_t i = 0; i < choice->front_count; i++) {
    const tile_state *state = &choice->front[i];
    tile_score again;
    bool possible;
    judge_score(&again, &possible, c, state->regions, state->count);
    assert_true(possible);
    assert_int_equal(again.head_bytes, state->score.head_bytes);
    assert_int_equal(again.macs, state->score.macs);
    untiled |= state->count == 0;
    for (uint32_t k = 1; k < state->count; k++)
      assert_true(state->regions[k - 1].last < state->regions[k].first);
    for (uint32_t k = 0; k < choice->front_count; k++) {
      const tile_score *other = &choice->front[k].score;
      if (k == i) continue;
      assert_true(arena_of(goal, other) > arena_of(goal, &state->score) ||
                  other->macs > state->score.macs ||
                  other->op_count > state->score.op_count);
      if (k > i)
        assert_true(arena_of(goal, other) >= arena_of(goal, &state->score));
    }
  }
  assert_true(untiled);
}

/* At most two regions are compared with; more may do better still. */
static void compare(const tile_goal *goal, uint32_t *exact) {
  for (uint64_t seed = 1; seed <= NETS; seed++) {
    chain c;
    tile_choice choice;
    open_chain(&c, seed);
    const uint64_t best = least(&c, goal);
    search(&choice, &c, goal, 1500000);
    expect_front(&choice, &c, goal);
    const uint64_t found = value_of(goal, &choice.front[choice.chosen].score);
    if (found <= best) ++*exact;
    assert_true(found <= best + best / 8);
    fixture_close(&c.f);
  }
}

static void finds_the_least_arena(void **state) {
  (void)state;
  uint32_t exact = 0;
  compare(&(tile_goal){false, UINT64_MAX, UINT64_MAX}, &exact);
  assert_true(exact >= NETS - 1);
}

static void finds_the_least_head(void **state) {
  (void)state;
  uint32_t exact = 0;
  compare(&(tile_goal){true, UINT64_MAX, UINT64_MAX}, &exact);
  assert_true(exact >= NETS - 1);
}

/* A budget halfway between what is needed as it is and the least. */
static void keeps_a_budget(void **state) {
  (void)state;
  uint32_t exact = 0;
  for (uint64_t seed = 1; seed <= NETS; seed++) {
    chain c;
    tile_choice choice;
    tile_score as_is;
    bool possible;
    tile_goal goal = {false, UINT64_MAX, UINT64_MAX};
    open_chain(&c, seed);
    judge_score(&as_is, &possible, &c, NULL, 0);
    goal.budget_bytes = (least(&c, &goal) + arena_of(&goal, &as_is)) / 2;
    const uint64_t best = least(&c, &goal);
    search(&choice, &c, &goal, 1500000);
    const tile_score *chosen = &choice.front[choice.chosen].score;
    assert_true(arena_of(&goal, chosen) <= goal.budget_bytes);
    exact += chosen->macs <= best;
    fixture_close(&c.f);
  }
  assert_true(exact >= NETS - 1);
}

static void keeps_to_multiplications(void **state) {
  (void)state;
  uint32_t exact = 0;
  for (uint64_t seed = 1; seed <= NETS; seed++) {
    chain c;
    tile_choice choice;
    tile_score as_is;
    bool possible;
    tile_goal goal = {true, 0, UINT64_MAX};
    open_chain(&c, seed);
    judge_score(&as_is, &possible, &c, NULL, 0);
    goal.most_macs = as_is.macs + as_is.macs / 50;
    const uint64_t best = least(&c, &goal);
    search(&choice, &c, &goal, 1500000);
    const tile_score *chosen = &choice.front[choice.chosen].score;
    assert_true(chosen->macs <= goal.most_macs);
    exact += arena_of(&goal, chosen) <= best;
    fixture_close(&c.f);
  }
  assert_true(exact >= NETS - 1);
}

static void repeats_and_stops(void **state) {
  (void)state;
  chain c;
  tile_choice one, two;
  const tile_goal goal = {false, UINT64_MAX, UINT64_MAX};
  open_chain(&c, 7);
  search(&one, &c, &goal, 100000);
  search(&two, &c, &goal, 100000);
  assert_int_equal(one.stopped, LIMITS_TICKS);
  assert_int_equal(one.judged, two.judged);
  assert_int_equal(one.front_count, two.front_count);
  for (uint32_t i = 0; i < one.front_count; i++)
    assert_int_equal(one.front[i].score.head_bytes,
                     two.front[i].score.head_bytes);
  c.asked = 0;
  search(&one, &c, &goal, 100000);
  assert_int_equal(c.asked, one.judged);
  fixture_close(&c.f);
}

/* Nothing may be spent: the graph as it is. */
static void has_the_untiled_graph(void **state) {
  (void)state;
  chain c;
  tile_choice choice;
  const tile_goal goal = {false, UINT64_MAX, UINT64_MAX};
  open_chain(&c, 3);
  search(&choice, &c, &goal, 0);
  assert_int_equal(choice.front_count, 1);
  assert_int_equal(choice.front[choice.chosen].count, 0);
  fixture_close(&c.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_the_least_arena),
      cmocka_unit_test(finds_the_least_head),
      cmocka_unit_test(keeps_a_budget),
      cmocka_unit_test(keeps_to_multiplications),
      cmocka_unit_test(repeats_and_stops),
      cmocka_unit_test(has_the_untiled_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
