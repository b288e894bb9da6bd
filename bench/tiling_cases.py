"""What tiling and overlap are measured on, and what they have to reach.

The bars are those of a prototype whose files ran bit-exactly: heads and sums of
head and tail, in bytes, on x86-64 with the reference kernels.
"""
import dataclasses

REFERENCE = ("--kernels", "reference")
OVERLAP = (*REFERENCE, "--overlap", "on")
# The search ends by ticks; on a loaded machine it must not end by the clock.
TILES = ("--tile", "auto", "--time-limit", "300")
HEAD = ("--minimize", "head")

# Planned, but not run here: who builds with these libraries has his own kernels.
LIBRARIES = ("reference", "portable", "cmsis-nn-c", "cmsis-nn-dsp",
             "cmsis-nn-mve", "esp-nn-ansi")


@dataclasses.dataclass(frozen=True)
class Goal:
    """One file to be written: with which options, and how small it has to be."""
    name: str
    options: tuple
    bar: int = 0            # bytes; 0: there is none
    total: bool = False     # the bar is for head and tail


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    goals: tuple


def both(percent, bar=0):
    return Goal(f"both, {percent} % MACs", (
        *OVERLAP, *TILES, *HEAD, "--max-extra-macs", f"{percent}%"), bar)


def case(model, overlap, tiles, heads, total, most=None):
    """Bars of the columns; heads: (percent of extra MACs, bar), ...; most: of
    tiles without overlap, in per cent."""
    limit = () if most is None else ("--max-extra-macs", f"{most}%")
    return Case(model, (
        Goal("overlap only", OVERLAP, overlap),
        Goal("tiling, no overlap", (*REFERENCE, *TILES, *HEAD, *limit),
             tiles),
        *(both(percent, bar) for percent, bar in heads),
        Goal("both, head + tail", (*OVERLAP, *TILES), total, True)))


CASES = (
    case("tflm_person_detect", 36880, 27000, [(1, 20400), (14, 14000)], 56200),
    case("mlperf_vww_96_int8", 36880, 41000, [(1, 27800)], 62000),
    case("mlperf_ic_resnet8_int8", 33312, 23100, [(0, 20500)], 35500,
         most=0),
    case("cfu_mobilenetv2_160_035", 307216, 138500, [(2, 97300), (7, 85700)],
         189000),
    case("mlperf_kws_ref_int8", 9792, 0, [(0, 9792)], 18100),
    case("cfu_hps_74ops", 214700, 199000, [(0, 142000), (9, 127000)], 161000),
    case("mlperf_vww_96_float", 147488, 0, [(1, 111008)], 0),
    case("mlperf_ic_resnet8_float", 133248, 0, [(0, 81920)], 0),
)

# Vela's `--optimise Size` on its NPU, for reading only.
VELA = {"tflm_person_detect": 30.0, "mlperf_vww_96_int8": 48.0,
        "mlperf_ic_resnet8_int8": 35.0}

# Regions by hand, in each mode, for runtimes that ignore the plan.
LITERT = {
    "mlperf_vww_96_int8": ("0-3:4:pad", "2-3:5:same"),
    "mlperf_vww_96_float": ("0-3:4:pad",),
    "mlperf_ic_resnet8_int8": ("0-3:4:pad", "1-3:2:same", "0-7:8:cache"),
    "mlperf_ic_resnet8_float": ("0-7:4:same", "0-7:2x2:pad", "0-7:8:cache"),
    "mlperf_kws_ref_int8": ("0-8:5:pad",),
    "cfu_mobilenetv2_160_035": ("2-7:5:pad",),
}

# For ONNX Runtime; `auto` and one by hand.
ORT = ("auto", "0-7:3:pad")
