/*
 * Distances against the event models: for shapes at random the smallest D such
 * that every D' >= D is safe is found by trying every D on a memory whose bytes
 * know what they hold, and compared with what the table promises.
 */
#include "graph_fixture.h"

#include <inttypes.h>

#include "base/random.h"
#include "kernel/kernel.h"

/* ---- A memory that knows what it holds ----------------------------------- */

/* For each byte of input 0, the number of writes before its last read; and of
   each write, by number, the byte of the output.  An output byte o lies on
   input byte o - D: it destroys that one if it is written before that is read
   for the last time. */
typedef struct recorder {
  uint32_t slot;     /* the operand that is watched */
  uint64_t writes;   /* bytes written so far */
  uint64_t *written; /* per byte of the output: its number */
  uint64_t *read;    /* per byte of the input: writes before its last read; 0:
                        never read, or before everything */
  uint64_t in, out;
} recorder;

static void record_read(void *payload, uint32_t slot, uint64_t byte,
                        uint64_t bytes) {
  recorder *r = payload;
  if (slot != r->slot) return;
  assert_true(bytes > 0 && byte + bytes <= r->in);
  for (uint64_t i = byte; i < byte + bytes; i++) r->read[i] = r->writes;
}

static void record_write(void *payload, uint32_t slot, uint64_t byte,
                         uint64_t bytes) {
  recorder *r = payload;
  assert_int_equal(slot, 0);
  assert_true(bytes > 0 && byte + bytes <= r->out);
  for (uint64_t i = byte; i < byte + bytes; i++) {
    assert_true(r->written[i] == UINT64_MAX);
    r->written[i] = r->writes++;
  }
}

static bool is_safe(const recorder *r, int64_t distance) {
  for (int64_t o = 0; o < (int64_t)r->out; o++) {
    const int64_t i = o - distance;
    if (i >= 0 && i < (int64_t)r->in && r->written[o] < r->read[i])
      return false;
  }
  return true;
}

/* The smallest D in [least, all of the output] above which all are safe. */
static int64_t exact_distance(kernel_library library, const graph *g,
                              uint32_t slot, int64_t least) {
  const graph_op *op = g->ops.data;
  recorder r = {.slot = slot,
                .in = g->tensors.data[op->inputs[slot]].bytes,
                .out = g->tensors.data[op->outputs[0]].bytes};
  r.written = malloc(r.out * sizeof *r.written);
  r.read = calloc(r.in, sizeof *r.read);
  memset(r.written, 0xff, r.out * sizeof *r.written);
  kernel_run(library, g, 0, &(kernel_watch){&r, record_read, record_write});
  assert_int_equal(r.writes, r.out);
  int64_t d = (int64_t)r.out;
  assert_true(is_safe(&r, d));
  while (d > least && is_safe(&r, d - 1)) d--;
  free(r.written);
  free(r.read);
  return d;
}

/* ---- Operators at random ------------------------------------------------- */

typedef struct shape {
  uint32_t h, w, ci, co, m, kh, kw, sh, sw, dh, dw, n;
  bool same;
} shape;

static uint32_t output_of(bool same, uint32_t n, uint32_t k, uint32_t s,
                          uint32_t d) {
  const uint32_t span = (k - 1) * d + 1;
  if (same) return (n + s - 1) / s;
  return span > n ? 0 : (n - span) / s + 1;
}

static uint32_t one_to(random_state *r, uint32_t most) {
  return 1 + random_below(r, most);
}

static shape draw_shape(random_state *r) {
  shape s;
  do {
    s = (shape){.h = one_to(r, 7),
                .w = one_to(r, 9),
                .ci = one_to(r, 9),
                .co = one_to(r, 9),
                .m = one_to(r, 4),
                .kh = one_to(r, 4),
                .kw = one_to(r, 4),
                .sh = one_to(r, 3),
                .sw = one_to(r, 3),
                .dh = 1,
                .dw = 1,
                .n = 1,
                .same = random_below(r, 2)};
    if (random_below(r, 4) == 0) s.dh = s.dw = 2;
    if (random_below(r, 4) == 0) s.sh = s.sw = 1;
    if (random_below(r, 3) == 0) s.m = 1;
    if (random_below(r, 5) == 0) s.kh = s.kw = 3;
    if (random_below(r, 5) == 0) s.kh = s.kw = 1;
    if (random_below(r, 5) == 0) s.h = s.kh = 1;
    if (random_below(r, 8) == 0) s.ci = 1;
    if (random_below(r, 8) == 0) s.co = s.ci;
  } while (!output_of(s.same, s.h, s.kh, s.sh, s.dh) ||
           !output_of(s.same, s.w, s.kw, s.sw, s.dw));
  return s;
}

static const char *type_name(bool floats) { return floats ? "f32" : "i8"; }

static void print_window(char *out, size_t size, const shape *s,
                         const char *kind, bool floats) {
  const bool depthwise = !strcmp(kind, "depthwise_conv2d");
  const bool conv = !strcmp(kind, "conv2d");
  const uint32_t oh = output_of(s->same, s->h, s->kh, s->sh, s->dh);
  const uint32_t ow = output_of(s->same, s->w, s->kw, s->sw, s->dw);
  const uint32_t co = conv ? s->co : depthwise ? s->ci * s->m : s->ci;
  const char *type = type_name(floats);
  int used = snprintf(out, size,
                      "calm-graph 1\ngraph g\ntensor x %s[%" PRIu32 ",%" PRIu32
                      ",%" PRIu32 ",%" PRIu32
                      "] input\n"
                      "tensor y %s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
                      "] output\n",
                      type, s->n, s->h, s->w, s->ci, type, s->n, oh, ow, co);
  if (conv || depthwise)
    used += snprintf(out + used, size - (size_t)used,
                     "tensor w %s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
                     "] const\n",
                     type, conv ? co : 1, s->kh, s->kw, conv ? s->ci : co);
  snprintf(out + used, size - (size_t)used,
           "op a %s ( x %s ) -> ( y ) stride=%" PRIu32 ",%" PRIu32
           " dilation=%" PRIu32 ",%" PRIu32 " filter=%" PRIu32 ",%" PRIu32
           " pad=%s\n",
           kind, conv || depthwise ? "w" : "", s->sh, s->sw, s->dh, s->dw,
           s->kh, s->kw, s->same ? "same" : "valid");
}

/* ---- Comparisons --------------------------------------------------------- */

typedef struct tally {
  int safe, never, equal;
} tally;

/* Formulas that were made for one order of accesses and no other. */
static bool is_exact(const char *why) {
  return !strncmp(why, "1x1", 3) || strstr(why, "four pixels");
}

/* The promised distance is never below the exact one; where the kernel runs as
   the formula says it is the same, but for the clamp at 0. */
static void compare(tally *t, kernel_library library, const char *text,
                    bool exact) {
  fixture f;
  fixture_open(&f, NULL);
  fixture_must_read(&f, text);
  const graph *g = f.graphs.data;
  const kernel_distance d = kernel_overlap(library, g, 0, 0);
  assert_non_null(d.why);
  t->safe += d.safe;
  t->never += !d.safe;
  if (d.safe) {
    const int64_t least = d.bytes < 0 ? d.bytes : 0;
    const int64_t found = exact_distance(library, g, 0, least);
    const int64_t all =
        (int64_t)g->tensors.data[g->ops.data[0].outputs[0]].bytes;
    const int64_t promised = d.bytes < all ? d.bytes : all;
    if (found > promised || ((exact || is_exact(d.why)) && found != promised))
      fail_msg("%s: promised %" PRId64 ", is %" PRId64 ": %s\n%s",
               kernel_library_name(library), promised, found, d.why, text);
    t->equal += found == promised;
  }
  fixture_close(&f);
}

enum { SHAPES = CALM_SANITIZED ? 200 : 1500 };

static void tally_windows(tally *t, const char *kind, kernel_library library,
                          bool exact, uint64_t seed) {
  random_state r = random_from_seed(seed);
  for (int i = 0; i < SHAPES; i++) {
    char text[1024];
    shape s = draw_shape(&r);
    if (strstr(kind, "pool")) s.dh = s.dw = 1;
    if (!output_of(s.same, s.h, s.kh, s.sh, 1) ||
        !output_of(s.same, s.w, s.kw, s.sw, 1))
      continue;
    print_window(text, sizeof text, &s, kind,
                 library == KERNELS_REFERENCE && random_below(&r, 4) == 0);
    compare(t, library, text, exact);
  }
}

static const char *const kinds[] = {"conv2d", "depthwise_conv2d", "max_pool2d",
                                    "average_pool2d"};

/* Element by element: the formula is exact. */
static void reference_distances_are_exact(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tally t = {0};
    tally_windows(&t, kinds[i], KERNELS_REFERENCE, true, i);
    assert_int_equal(t.never, 0);
    assert_int_equal(t.equal, t.safe);
    tally_windows(&t, kinds[i], KERNELS_ESP_NN_ANSI, true, 10 + i);
    assert_int_equal(t.never, 0);
  }
}

/* Others write several elements at a time, and never need more; 1x1 and 1xN
   have formulas of their own, which are exact. */
static void other_distances_suffice(void **state) {
  (void)state;
  static const kernel_library libraries[] = {
      KERNELS_PORTABLE, KERNELS_CMSIS_NN_C, KERNELS_CMSIS_NN_DSP,
      KERNELS_CMSIS_NN_MVE};
  for (size_t l = 0; l < sizeof libraries / sizeof *libraries; l++)
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      tally t = {0};
      tally_windows(&t, kinds[i], libraries[l], false, 20 + 10 * l + i);
      assert_true(t.safe > SHAPES / 3);
    }
}

/* A portable distance holds in the models of all libraries. */
static void portable_distances_hold_everywhere(void **state) {
  (void)state;
  random_state r = random_from_seed(3);
  int safe = 0;
  for (int i = 0; i < 4 * SHAPES; i++) {
    char text[1024];
    shape s = draw_shape(&r);
    const char *kind = kinds[i % 2];
    print_window(text, sizeof text, &s, kind, false);
    fixture f;
    fixture_open(&f, NULL);
    fixture_must_read(&f, text);
    const graph *g = f.graphs.data;
    const kernel_distance d = kernel_overlap(KERNELS_PORTABLE, g, 0, 0);
    for (int l = KERNELS_REFERENCE; d.safe && l < KERNEL_LIBRARIES; l++) {
      const int64_t found = exact_distance((kernel_library)l, g, 0, 0);
      if (found > d.bytes)
        fail_msg("%s: portable %" PRId64 ", is %" PRId64 "\n%s",
                 kernel_library_name((kernel_library)l), d.bytes, found, text);
    }
    safe += d.safe;
    fixture_close(&f);
  }
  assert_true(safe > SHAPES);
}

/* Pixels of 1x1 and 1xN convolutions are vectors of a matrix product. */
static void products_have_exact_distances(void **state) {
  (void)state;
  static const kernel_library libraries[] = {
      KERNELS_CMSIS_NN_C, KERNELS_CMSIS_NN_DSP, KERNELS_CMSIS_NN_MVE};
  for (size_t l = 0; l < sizeof libraries / sizeof *libraries; l++) {
    random_state r = random_from_seed(40 + l);
    tally t = {0};
    for (int i = 0; i < SHAPES; i++) {
      char text[1024];
      shape s = draw_shape(&r);
      s.kh = s.dh = s.dw = 1;
      const bool line = libraries[l] == KERNELS_CMSIS_NN_MVE && i % 2;
      if (line)
        s.h = s.sh = 1, s.ci = 4, s.kw = 2 + random_below(&r, 3);
      else
        s.kw = 1;
      if (!output_of(s.same, s.w, s.kw, s.sw, 1)) continue;
      print_window(text, sizeof text, &s, "conv2d", false);
      compare(&t, libraries[l], text, false);
    }
    assert_true(t.safe > SHAPES / 4);
    if (libraries[l] != KERNELS_CMSIS_NN_MVE) assert_true(t.never > SHAPES / 4);
  }
}

static void dense_distances(void **state) {
  (void)state;
  for (int l = KERNELS_REFERENCE; l < KERNEL_LIBRARIES; l++) {
    random_state r = random_from_seed((uint64_t)l);
    tally t = {0};
    for (int i = 0; i < SHAPES; i++) {
      char text[512];
      const uint32_t b = one_to(&r, 4), in = one_to(&r, 12),
                     out = one_to(&r, 12);
      const bool flat = random_below(&r, 2);
      snprintf(text, sizeof text,
               "calm-graph 1\ngraph g\ntensor x i8[%" PRIu32 ",%" PRIu32
               "] input\ntensor w i8[%" PRIu32 ",%" PRIu32
               "] const\n"
               "tensor y i8[%s%" PRIu32 ",%" PRIu32
               "] output\n"
               "op a fully_connected ( x w - ) -> ( y )\n",
               b, in, out, in, flat ? "" : "1,", b, out);
      compare(&t, (kernel_library)l, text,
              l == KERNELS_REFERENCE || l == KERNELS_ESP_NN_ANSI);
    }
    assert_true(t.safe > SHAPES / 4);
    assert_int_equal(t.never > 0,
                     l != KERNELS_REFERENCE && l != KERNELS_ESP_NN_ANSI);
  }
}

static void pads_and_slices(void **state) {
  (void)state;
  random_state r = random_from_seed(5);
  tally pads = {0}, slices = {0};
  for (int i = 0; i < SHAPES; i++) {
    char text[512];
    uint32_t b[4], a[4], n[4];
    for (int d = 0; d < 4; d++) {
      n[d] = one_to(&r, d == 0 ? 2 : 5);
      b[d] = d == 1 || d == 2 ? random_below(&r, 3) : 0;
      a[d] = d == 1 || d == 2 ? random_below(&r, 3) : 0;
    }
    snprintf(text, sizeof text,
             "calm-graph 1\ngraph g\n"
             "tensor x i8[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
             "] input\ntensor y i8[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
             "] output\ntensor p i32[4,2] const\n"
             "op a pad ( x p ) -> ( y ) before=0,%" PRIu32 ",%" PRIu32
             ",0 after=0,%" PRIu32 ",%" PRIu32 ",0\n",
             n[0], n[1], n[2], n[3], n[0], n[1] + b[1] + a[1],
             n[2] + b[2] + a[2], n[3], b[1], b[2], a[1], a[2]);
    compare(&pads, KERNELS_REFERENCE, text, true);
    compare(&pads, KERNELS_CMSIS_NN_DSP, text, true);
    for (int d = 0; d < 4; d++) {
      b[d] = random_below(&r, 3);
      a[d] = random_below(&r, 3);
    }
    snprintf(
        text, sizeof text,
        "calm-graph 1\ngraph g\n"
        "tensor x f32[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
        "] input\ntensor y f32[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
        "] output\ntensor b i32[4] const\n"
        "op a slice ( x b b ) -> ( y ) begin=%" PRIu32 ",%" PRIu32 ",%" PRIu32
        ",%" PRIu32 " size=1,1,1,1\n",
        n[0] + a[0] + b[0], n[1] + a[1] + b[1], n[2] + a[2] + b[2],
        n[3] + a[3] + b[3], n[0], n[1], n[2], n[3], b[0], b[1], b[2], b[3]);
    compare(&slices, KERNELS_REFERENCE, text, false);
  }
  assert_int_equal(pads.never, 0);
  assert_int_equal(slices.never, 0);
  assert_true(slices.equal > slices.safe * 3 / 4);
}

#define ADD "op a add ( x z ) -> ( y )\n"
#define TYPED(type)                                  \
  "tensor x " type "[1,4,4,3] input\ntensor z " type \
  "[1,4,4,3] input\ntensor y " type "[1,4,4,3] output\n"
#define POINT(co)                               \
  "tensor x i8[1,4,4,3] input\ntensor w i8[" co \
  ",1,1,3] const\n"                             \
  "tensor y i8[1,4,4," co "] output\n"
#define SAME "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same "

/* slot, library, whether it is safe, and the bytes. */
static void cases_of_the_notes(void **state) {
  (void)state;
  static const struct {
    const char *body;
    kernel_library library;
    uint32_t slot;
    bool safe;
    int64_t bytes;
  } cases[] = {
      {TYPED("i8") ADD, KERNELS_AUTO, 0, false, 0},
      {TYPED("i8") ADD, KERNELS_REFERENCE, 0, true, 0},
      {TYPED("i8") ADD, KERNELS_CMSIS_NN_C, 1, true, 0},
      {TYPED("f32") ADD, KERNELS_PORTABLE, 1, true, 0},
      {TYPED("i16") ADD, KERNELS_REFERENCE, 0, false, 0},
      {TYPED("u8") ADD, KERNELS_REFERENCE, 0, false, 0},
      {"tensor x i8[4,4] input\ntensor z i8[4] input\n"
       "tensor y i8[4,4] output\n" ADD,
       KERNELS_REFERENCE, 0, false, 0},
      {"tensor x i8[4,4] input\ntensor y i8[4,4] output\n"
       "op a add ( x x ) -> ( y )\n",
       KERNELS_CMSIS_NN_MVE, 0, true, 0},
      {TYPED("i8") "op a sub ( x z ) -> ( y )\n", KERNELS_CMSIS_NN_MVE, 0, true,
       0},
      /* By a constant that is broadcast; only the picture can be overwritten.
       */
      {"tensor x i8[4,4] input\ntensor z i8[4] const\n"
       "tensor y i8[4,4] output\nop a mul ( x z ) -> ( y )\n",
       KERNELS_PORTABLE, 0, true, 0},
      {"tensor x i8[4,4] input\ntensor z i8[4] const\n"
       "tensor y i8[4,4] output\nop a mul ( x z ) -> ( y )\n",
       KERNELS_PORTABLE, 1, false, 0},
      {TYPED("i8") "op a maximum ( x z ) -> ( y )\n", KERNELS_CMSIS_NN_MVE, 0,
       false, 0},
      {TYPED("i8") "op a maximum ( x z ) -> ( y )\n", KERNELS_REFERENCE, 0,
       true, 0},
      {"tensor x i8[1,10] input\ntensor y i8[1,10] output\n"
       "op a softmax ( x ) -> ( y )\n",
       KERNELS_CMSIS_NN_DSP, 0, true, 0},
      {"tensor x i8[1,10] input\ntensor y i8[1,10] output\n"
       "op a softmax ( x ) -> ( y )\n",
       KERNELS_PORTABLE, 0, false, 0},
      {"tensor x f32[10] input\ntensor y i8[10] output\n"
       "op a quantize ( x ) -> ( y )\n",
       KERNELS_REFERENCE, 0, true, 0},
      {"tensor x i8[12] input\ntensor y i8[12] output\n"
       "op a reshape ( x ) -> ( y )\n",
       KERNELS_REFERENCE, 0, false, 0},
      /* Co - 1; with floats four times that. */
      {POINT("3") SAME "\n", KERNELS_REFERENCE, 0, true, 2},
      {POINT("3") SAME "\n", KERNELS_ESP_NN_ANSI, 0, true, 2},
      {POINT("3") SAME "\n", KERNELS_CMSIS_NN_C, 0, false, 0},
      {POINT("3") SAME "\n", KERNELS_CMSIS_NN_DSP, 0, false, 0},
      {POINT("2") SAME "\n", KERNELS_CMSIS_NN_DSP, 0, true, 0},
      {POINT("3") SAME "\n", KERNELS_CMSIS_NN_MVE, 0, true, 11},
      {POINT("3") SAME "\n", KERNELS_PORTABLE, 0, false, 0},
      /* The dilation that a 1x1 kernel ignores selects the other kernel. */
      {POINT("3") SAME "dilation=2,2\n", KERNELS_CMSIS_NN_C, 0, true, 2},
      {POINT("3") SAME "dilation=2,2\n", KERNELS_CMSIS_NN_MVE, 0, true, 2},
      {POINT("3") SAME "dilation=2,2\n", KERNELS_PORTABLE, 0, true, 2},
      /* The weights are no operand to be overwritten. */
      {POINT("3") SAME "\n", KERNELS_REFERENCE, 1, false, 0},
      /* One row and one pixel: (9 + 1) * 8. */
      {"tensor x i8[1,9,9,8] input\ntensor w i8[1,3,3,8] const\n"
       "tensor y i8[1,9,9,8] output\n"
       "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_PORTABLE, 0, true, 80},
      {"tensor x i8[1,9,9,128] input\ntensor w i8[1,3,3,128] const\n"
       "tensor y i8[1,9,9,128] output\n"
       "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_CMSIS_NN_MVE, 0, false, 0},
      {"tensor x i8[1,9,9,128] input\ntensor w i8[1,3,3,128] const\n"
       "tensor y i8[1,9,9,128] output\n"
       "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_CMSIS_NN_DSP, 0, true, 1280},
      /* Ci = 1: MVE makes a 1x1 convolution of it. */
      {"tensor x i8[1,9,9,1] input\ntensor w i8[1,1,1,4] const\n"
       "tensor y i8[1,9,9,4] output\n"
       "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_PORTABLE, 0, false, 0},
      /* 1x8x4, kw = 5, stride 2, SAME: reads beyond its input. */
      {"tensor x i8[1,1,8,4] input\ntensor w i8[4,1,5,4] const\n"
       "tensor y i8[1,1,4,4] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=2,2 pad=same\n",
       KERNELS_CMSIS_NN_MVE, 0, false, 0},
      {"tensor x i8[1,1,8,4] input\ntensor w i8[4,1,5,4] const\n"
       "tensor y i8[1,1,4,4] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=2,2 pad=same\n",
       KERNELS_PORTABLE, 0, false, 0},
      {"tensor x i8[1,8,8,4] input\ntensor w i8[6,3,3,2] const\n"
       "tensor y i8[1,8,8,6] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_REFERENCE, 0, false, 0},
      {"tensor x i8[2,8,8,4] input\ntensor w i8[6,3,3,4] const\n"
       "tensor y i8[2,8,8,6] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_REFERENCE, 0, false, 0},
      /* The operators that set the bound of ResNet-8 and of KWS: 33,311 is one
         picture and this. */
      {"tensor x i8[1,32,32,16] input\ntensor w i8[16,3,3,16] const\n"
       "tensor y i8[1,32,32,16] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_PORTABLE, 0, true, 33 * 16 + 15},
      {"tensor x i8[1,48,48,8] input\ntensor w i8[16,1,1,8] const\n"
       "tensor y i8[1,48,48,16] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_REFERENCE, 0, true, 36871 - 18432},
      {"tensor x i8[1,48,48,8] input\ntensor w i8[16,1,1,8] const\n"
       "tensor y i8[1,48,48,16] output\n"
       "op a conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_CMSIS_NN_MVE, 0, true, 36895 - 18432},
      {"tensor x i8[1,25,5,64] input\ntensor w i8[1,3,3,64] const\n"
       "tensor y i8[1,25,5,64] output\n"
       "op a depthwise_conv2d ( x w ) -> ( y ) stride=1,1 pad=same\n",
       KERNELS_CMSIS_NN_MVE, 0, true, 8384 - 8000},
      {"tensor x i8[4,7] input\ntensor b i32[2] const\n"
       "tensor y i8[2,7] output\nop a slice ( x b b ) -> ( y ) begin=2,0 "
       "size=2,7\n",
       KERNELS_PORTABLE, 0, true, -14},
      {"tensor x i8[4,7] input\ntensor b i32[2] const\n"
       "tensor y i8[2,7] output\nop a slice ( x b b ) -> ( y )\n",
       KERNELS_REFERENCE, 0, false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    char text[1024];
    snprintf(text, sizeof text, "calm-graph 1\ngraph g\n%s", cases[i].body);
    fixture_open(&f, NULL);
    fixture_must_read(&f, text);
    const kernel_distance d =
        kernel_overlap(cases[i].library, f.graphs.data, 0, cases[i].slot);
    if (d.safe != cases[i].safe || (d.safe && d.bytes != cases[i].bytes))
      fail_msg("%s: %d, %" PRId64 ": %s\n%s",
               kernel_library_name(cases[i].library), d.safe, d.bytes, d.why,
               text);
    fixture_close(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_distances_are_exact),
      cmocka_unit_test(other_distances_suffice),
      cmocka_unit_test(portable_distances_hold_everywhere),
      cmocka_unit_test(products_have_exact_distances),
      cmocka_unit_test(dense_distances),
      cmocka_unit_test(pads_and_slices),
      cmocka_unit_test(cases_of_the_notes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
