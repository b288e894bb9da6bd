"""Figures of an evaluation as one flat dictionary, so that they compare.

The keys are tuples: ("cycles",) of the whole; (level, "cycles") of a level;
(level, tensor, "reads") of a tensor at a level; (level + ">", tensor, "hops")
of a tensor in the network below a level.  What Timeloop prints is brought into
the same form by goldens.py and published.py.
"""

ENERGY_TOLERANCE = 1e-9

WHOLE = ("cycles", "energy_pj", "utilization", "computes", "multipliers",
         "compute_cycles", "compute_energy_pj")
AT_LEVEL = ("tile_words", "partition_words", "instances", "clusters", "reads",
            "fills", "updates", "temporal_reductions", "address_generations",
            "energy_pj")
IN_NETWORK = ("fanout", "ingresses", "link_transfers", "spatial_reductions",
              "hops", "energy_pj", "link_energy_pj", "groups")


def of_report(report):
    """The figures of what `calm eval --json` prints."""
    found = {(key,): report[key] for key in WHOLE}
    for level in report["levels"]:
        name = level["name"]
        found[name, "cycles"] = level["cycles"]
        found[name, "slowdown"] = level["slowdown"]
        for tensor in level["tensors"]:
            entry = {**tensor, "instances": level["instances"]}
            for key in AT_LEVEL:
                found[name, tensor["name"], key] = entry[key]
    for network in report["networks"]:
        for tensor in network["tensors"]:
            for key in IN_NETWORK:
                found[network["from"] + ">", tensor["name"], key] = tensor[key]
            found[network["from"] + ">", tensor["name"], "groups"] = sorted(
                tensor["groups"])
    return found


def same(one, other):
    """Whole numbers must be equal, others nearly; lists item by item."""
    if isinstance(one, list):
        return (isinstance(other, list) and len(one) == len(other) and
                all(map(same, one, other)))
    if one == other or None in (one, other):
        return one == other
    if isinstance(one, int) and isinstance(other, int):
        return False
    return abs(one - other) <= ENERGY_TOLERANCE * max(abs(one), abs(other))


def wrong(found, expected):
    """One line for each expected figure that is another one, or missing."""
    return [f"{' '.join(key)}: {found.get(key)}, not {value}"
            for key, value in expected.items()
            if not same(found.get(key), value)]


def differences(found, expected):
    """The same, and one for each tensor that is not expected at its level."""
    places = {key[:2] for key in expected if len(key) == 3}
    return wrong(found, expected) + [
        f"{' '.join(key)}: not expected there"
        for key in found if key[1:] and key[2:3] == ("reads",) and
        key[:2] not in places]
