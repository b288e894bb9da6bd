"""Layers and machines of the mapper's tests and benches.

ResNet-50, whose shapes are written here; and what the levels of a machine are
for, as a file of constraints.
"""

# filter, width of the output, channels in, channels out, stride
RESNET50 = (
    (7, 112, 3, 64, 2), (1, 56, 64, 64, 1), (3, 56, 64, 64, 1),
    (1, 56, 64, 256, 1), (1, 56, 256, 64, 1), (1, 56, 256, 128, 1),
    (3, 28, 128, 128, 2), (1, 28, 128, 512, 1), (1, 28, 256, 512, 2),
    (1, 28, 512, 128, 1), (3, 28, 128, 128, 1), (1, 28, 512, 256, 1),
    (3, 14, 256, 256, 2), (1, 14, 256, 1024, 1), (1, 14, 512, 1024, 2),
    (1, 14, 1024, 256, 1), (3, 14, 256, 256, 1), (1, 14, 1024, 512, 1),
    (3, 7, 512, 512, 2), (1, 7, 512, 2048, 1), (1, 7, 1024, 2048, 2),
    (1, 7, 2048, 512, 1), (3, 7, 512, 512, 1), (1, 1, 2048, 1000, 1))


def constraints(keeps):
    tensors = {"Weights", "Inputs", "Outputs"}
    lines = ["constraints:"]
    for level, kept in keeps.items():
        rest = ", ".join(sorted(tensors - set(kept.split(", "))))
        lines.append(f"- {{target: {level}, type: bypass, keep: [{kept}], "
                     f"bypass: [{rest}]}}")
    return "\n".join(lines) + "\n"


def problem(layer):
    rows = "".join(f"  {key}: {value}\n" for key, value in layer.items())
    return "problem:\n  shape: cnn-layer\n" + rows
