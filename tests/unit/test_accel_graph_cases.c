/*
 * The public models: their layers have the products that the models are known
 * to have, and those of every operator are its weights times its positions.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "accel/accel_graph.h"
#include "cases.h"
#include "model/model.h"

/* What each model is known to need, or what follows from its description. */
static const struct known {
  const char *file;
  uint64_t macs;
  uint32_t layers, operators; /* different ones; all */
} models[] = {
    {"onnx_light_resnet50.onnx", 4089184256, 24, 54},
    {"zigzag_resnet18.onnx", 1814073344, 12, 21},
    {"zigzag_mobilenetv2.onnx", 300774272, 31, 53},
    {"onnx_light_vgg19.onnx", 19632062464, 12, 19},
    /* pictures of 224 pixels, not 227, in groups as the paper has them */
    {"onnx_light_bvlc_alexnet.onnx",
     UINT64_C(54) * 54 * 96 * 363 + 26 * 26 * 256 * 1200 +
         12 * 12 * 384 * 2304 + 12 * 12 * 384 * 1728 + 12 * 12 * 256 * 1728 +
         9216 * 4096 + 4096 * 4096 + 4096 * 1000,
     8, 8},
    {"mlperf_vww_96_int8.tflite", 7489664, 20, 28},
    {"mlperf_ic_resnet8_int8.tflite", 12501632, 9, 10},
    {"mlperf_kws_ref_int8.tflite", 2656768, 4, 10},
    {"mlperf_ad01_int8.tflite", 2 * 640 * 128 + 6 * 128 * 128 + 2 * 128 * 8, 5,
     10},
    {"swiftnet_vwwc19_uint8.tflite", 56156504, 26, 60},
    {"onnx_light_shufflenet.onnx", 124664528, 15, 50},
};

enum { MODEL_COUNT = sizeof models / sizeof *models };

static uint64_t product(const graph_tensor *t) {
  uint64_t all = 1;
  for (uint32_t d = 0; d < t->rank; d++) all *= (uint64_t)t->dimensions[d];
  return all;
}

/* Each weight meets each position of the output once: grouped or not. */
static uint64_t count_products(const graph *g) {
  uint64_t macs = 0;
  for (op_id i = 0; i < g->ops.count; i++) {
    const graph_op *op = &g->ops.data[i];
    const bool convolution =
        op->kind == OP_conv2d || op->kind == OP_depthwise_conv2d;
    if (!convolution && op->kind != OP_fully_connected && op->kind != OP_gemm)
      continue;
    const graph_tensor *w = &g->tensors.data[op->inputs[1]];
    const graph_tensor *y = &g->tensors.data[op->outputs[0]];
    const uint32_t channels =
        convolution && g->channels_first ? 1 : y->rank - 1;
    macs += product(w) * (product(y) / (uint64_t)y->dimensions[channels]);
  }
  return macs;
}

static void check_model(const struct known *known, const char *path) {
  calm_context *context = calm_context_new(NULL);
  calm_model model;
  accel_graph_layers n;
  uint64_t macs = 0, operators = 0;
  model_init(&model, context, path);
  assert_int_equal(file_map_open(&model.map, context, path), CALM_OK);
  assert_int_equal(model_read(&model), CALM_OK);
  const graph *g = &model.graphs.data[0];
  assert_int_equal(accel_graph_extract(&n, g, &model.arena), CALM_OK);
  for (uint32_t i = 0; i < n.layer_count; i++) {
    macs += n.layers[i].macs * n.layers[i].count;
    operators += n.layers[i].count;
    assert_string_equal(n.layers[i].name, g->ops.data[n.first_ops[i]].name);
    for (uint32_t j = 0; j < i; j++)
      assert_false(accel_layer_equal(&n.layers[i], &n.layers[j]));
  }
  assert_int_equal(n.skipped_count, 0);
  assert_int_equal(macs, count_products(g));
  if (macs != known->macs || operators != known->operators ||
      n.layer_count != known->layers)
    fail_msg("%s: %" PRIu64 " in %u layers of %" PRIu64 " operators",
             known->file, macs, n.layer_count, operators);
  file_map_close(&model.map);
  model_clear(&model);
  assert_int_equal(calm_context_bytes(context), 0);
  calm_context_free(context);
}

static void known_models(void **state) {
  (void)state;
  CASES_OR_SKIP();
  uint32_t absent = 0;
  for (uint32_t i = 0; i < MODEL_COUNT; i++) {
    char name[256], path[1024];
    snprintf(name, sizeof name, "models/%s", models[i].file);
    if (cases_path(path, sizeof path, name))
      check_model(&models[i], path);
    else
      absent++;
  }
  if (absent) print_message("%u of %d models absent\n", absent, MODEL_COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
