"""What is known of the public cases: which runtime cannot run which of them."""

# TensorFlow Lite Micro; part of its own message.
TFLM_REFUSES = {
    "coral_deeplabv3_mnv2_dm05_uint8": "Hybrid models are not supported",
    "coral_mobilenet_v1_025_128_uint8": "Hybrid models are not supported",
    "coral_model_invoking_error": "killed by signal 11",
    "coral_split_concat": "input_type == kTfLiteFloat32",
    "coral_split_concat_edgetpu": "op code CUSTOM",
    "litert_blockwise_quantized": "kTfLiteNoQuantization was not true",
    "litert_dynamic_string_custom_ops": "op code CUSTOM",
    "litert_group_norm": "STABLEHLO_COMPOSITE",
    "litert_l2_norm_composite": "STABLEHLO_COMPOSITE",
    "litert_npu_precompiled": "op code CUSTOM",
    "litert_topk": "TOPK_V2",
    "litert_with_custom_op": "op code CUSTOM",
    "mlperf_kws_ref_float": "Hybrid models are not supported",
    "support_mobilenet_v1_025_224_quant_meta":
        "Hybrid models are not supported",
    "swiftnet_vwwc19_uint8": "Hybrid models are not supported",
    "tflm_person_detect_vela": "op code CUSTOM",
}

# It allocates these, so that the arena is known, and cannot invoke them.
TFLM_ALLOCATES_ONLY = {
    "coral_movenet_lightning_ptq": "Input type UINT8 (3) not supported",
    "support_dilated_conv": "not supported by FLOOR_MOD",
}

# LiteRT.
LITERT_REFUSES = {
    "coral_model_invoking_error": "unresolved custom op",
    "coral_split_concat_edgetpu": "unresolved custom op",
    "litert_blockwise_quantized": "killed by signal 6",
    "litert_dynamic_string_custom_ops": "unresolved custom op",
    "litert_npu_precompiled": "unresolved custom op",
    "litert_with_custom_op": "unresolved custom op",
    "tflm_audio_preprocessor_float": "unresolved custom op",
    "tflm_audio_preprocessor_int8": "unresolved custom op",
    "tflm_person_detect": "quantized_dimension must be in range",
    "tflm_person_detect_vela": "unresolved custom op",
    "tflm_seanet_transpose_conv2": "failed to invoke",
}

# Its kernels take memory of their own from the arena here: the activations are
# further apart than what calm counts.
LITERT_TEMPORARIES = {"litert_torchaudio_conformer", "mlperf_kws_ref_float",
                      "support_dilated_conv"}

# LiteRT corrupts its own heap on these: any outcome is possible.
LITERT_UNSTABLE = {"tflm_keyword_scrambled_8bit"}

# Outputs that are the same for most inputs (a softmax that saturates), and the
# index of a late inner tensor that is not.
WEAK_OUTPUTS = {
    "cfu_hps_74ops": 33,
    "mlperf_kws_ref_int8": 33,
    "mlperf_streaming_wakeword": 29,
    "mltk_image_example1": 15,
    "tflm_keyword_scrambled_8bit": 0,
    "tflm_micro_speech_lstm": 25,
    "tflm_mnist_lstm_int8": 25,
}
