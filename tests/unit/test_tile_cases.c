/*
 * Tiles of real networks against figures that were measured with another
 * rewriter: how many operators, how many multiply-accumulates more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cases.h"
#include "context_fixture.h"
#include "graph/graph_window.h"
#include "model/model.h"
#include "tile/tile.h"

typedef struct fact {
  const char *model, *regions;
  uint32_t most_ops;
  uint32_t most_permille; /* multiply-accumulates more */
} fact;

static const fact facts[] = {
    {"tflm_person_detect", "0-3:3:same", 46, 21},
    {"tflm_person_detect", "0-3:4:pad", 58, 8},
    {"tflm_person_detect", "0-3:5:pad", 66, 11},
    {"tflm_person_detect", "0-3:8:pad,4-7:4:pad", 114, 48},
    {"tflm_person_detect", "0-7:4x4:pad", 214, 177},
    {"tflm_person_detect", "0-3:12:pad,4-7:12:pad", 206, 136},
    {"tflm_person_detect", "0-6:20:cache", 375, 0},
    {"mlperf_vww_96_int8", "2-3:5:same", 49, 8},
    {"mlperf_vww_96_int8", "2-3:5:pad", 49, 3},
    {"mlperf_vww_96_int8", "1-3:6:pad", 64, 6},
    {"mlperf_vww_96_int8", "0-3:4x4:pad", 136, 35},
    {"mlperf_vww_96_int8", "0-1:6:pad,2-4:12:pad,5-8:3:pad", 135, 31},
    {"mlperf_ic_resnet8_int8", "1-3:2:same", 24, 47},
    {"mlperf_ic_resnet8_int8", "1-3:2:pad", 28, 12},
    {"mlperf_ic_resnet8_int8", "0-3:4:pad", 49, 49},
    {"mlperf_ic_resnet8_int8", "0-3:4:same", 37, 232},
    {"mlperf_ic_resnet8_int8", "1-3:6:pad", 56, 59},
    {"mlperf_ic_resnet8_int8", "0-7:2x2:pad", 73, 203},
    {"mlperf_ic_resnet8_int8", "0-7:8:cache", 191, 0},
    {"cfu_mobilenetv2_160_035", "1-4:2:pad,5-7:2:pad", 85, 3},
    {"cfu_mobilenetv2_160_035", "1-4:2:pad,5-7:4:pad", 95, 5},
    {"cfu_mobilenetv2_160_035", "5-7:8:pad", 105, 7},
    {"cfu_mobilenetv2_160_035", "1-4:8:pad,5-7:8:pad", 157, 24},
    {"cfu_mobilenetv2_160_035", "1-4:5:pad,5-7:6x3:pad", 182, 17},
    {"cfu_mobilenetv2_160_035", "0-4:20:pad,5-7:16:pad,8-10:8:pad", 342, 67},
    {"mlperf_kws_ref_int8", "0-8:5:cache", 112, 0},
};

static void check_fact(const fact *f) {
  char path[512], name[128];
  const tile_options options = {.most_operands = 10, .row_align = 16};
  calm_model model;
  tile_region *regions;
  uint32_t count;
  graph_edit edit;
  arena a;
  snprintf(name, sizeof name, "models/%s.tflite", f->model);
  if (!cases_path(path, sizeof path, name)) {
    print_message("skipped: no %s\n", name);
    return;
  }
  arena_init(&a, context);
  model_init(&model, context, path);
  assert_int_equal(file_map_open(&model.map, context, path), CALM_OK);
  if (model_read(&model)) fail_msg("%s", calm_context_message(context));
  file_map_close(&model.map);
  const graph *g = &model.graphs.data[0];
  assert_int_equal(tile_parse(&regions, &count, f->regions, &a), CALM_OK);
  if (tile_apply(&edit, g, regions, count, &options, &a) ||
      tile_check(&edit, context))
    fail_msg("%s %s: %s", f->model, f->regions, calm_context_message(context));
  const uint64_t before = graph_macs(g), after = graph_macs(&edit.after);
  const uint64_t extra = ((after - before) * 1000 + before / 2) / before;
  if (after < before || extra > f->most_permille ||
      edit.after.ops.count > f->most_ops)
    fail_msg("%s %s: %u operators, %llu permille more", f->model, f->regions,
             edit.after.ops.count, (unsigned long long)extra);
  graph_edit_free(&edit);
  arena_free(&a);
  model_clear(&model);
}

static void known_tilings_cost_no_more(void **state) {
  (void)state;
  CASES_OR_SKIP();
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    check_fact(&facts[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_tilings_cost_no_more),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
