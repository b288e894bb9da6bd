"""What Timeloop prints for a mapping (timeloop-model.stats.txt), as figures.

The keys are those of tests/mapping/figures.py; the values are the texts that
were printed, as only so many digits of a figure can be compared.
"""
import re

AT_LEVEL = {
    "Partition size": "partition_words",
    "Utilized capacity": "tile_words",
    "Utilized instances (max)": "instances",
    "Utilized clusters (max)": "clusters",
    "Scalar reads (per-instance)": "reads",
    "Scalar fills (per-instance)": "fills",
    "Scalar updates (per-instance)": "updates",
    "Temporal reductions (per-instance)": "temporal_reductions",
    "Address generations (per-cluster)": "address_generations",
    "Energy (total)": "energy_pj",
    "Address Generation Energy (total)": "address_energy_pj",
}
OF_LEVEL = {
    "Cycles": "cycles",
    "Bandwidth throttling": "slowdown",
    "Leakage energy (total)": "leak_energy_pj",
}
OF_COMPUTE = {
    "Utilized instances": "multipliers",
    "Computes (total)": "computes",
    "Cycles": "compute_cycles",
    "Energy (total)": "compute_energy_pj",
}
IN_NETWORK = {
    "Fanout": "fanout",
    "Ingresses": "ingresses",
    "Link transfers": "link_transfers",
    "Spatial reductions": "spatial_reductions",
    "Average number of hops": "hops",
    "Energy (total)": "energy_pj",
    "Link transfer energy (total)": "link_energy_pj",
}
OF_ALL = {"Cycles": "cycles", "Utilization": "utilization",
          "Energy": "energy_uj"}

NUMBER = r"-?(?:[\d.]+(?:e[+-]?\d+)?|nan|inf)"
ITEM = re.compile(rf"( *)(\w[^:=]*?) *: *({NUMBER})?(%?).*$")
GROUP = re.compile(rf" *@multicast (\d+) @scatter (\d+): ({NUMBER})$")


def read(text):
    """{key: printed text}; the groups of a flow are a list of such."""
    found, part, place, tensor = {}, None, None, None
    for line in text.splitlines():
        head = re.match(r"=== (.+) ===$|(\S.*?) <==> .*$", line)
        if re.match(r"Level \d+$|Network \d+$", line):
            part = {"Level 0": "compute"}.get(line, line.split()[0].lower())
        elif line.startswith(("Operational", "Summary")):
            part = "summary" if line.startswith("Summary") else None
        elif head and part:
            place, tensor = head.group(1) or head.group(2), None
        elif part:
            tensor = read_item(found, line, part, place, tensor)
    return found


def read_item(found, line, part, place, tensor):
    """One line; the tensor that the lines after it are about."""
    group, item = GROUP.match(line), ITEM.match(line)
    if group:
        found[place + ">", tensor, "groups"].append(list(group.groups()))
    elif item and item.group(3) is None and len(item.group(1)) == 4:
        tensor = item.group(2)
        if part == "network":
            found[place + ">", tensor, "groups"] = []
    elif item and item.group(3) is not None:
        _, name, value, percent = item.groups()
        keep(found, part, place, tensor, name, value + percent)
    return tensor


def keep(found, part, place, tensor, name, value):
    if part == "summary" and name in OF_ALL:
        found[OF_ALL[name],] = value
    elif part == "compute" and name in OF_COMPUTE:
        found[OF_COMPUTE[name],] = value
    elif part == "network" and tensor and name in IN_NETWORK:
        found[place + ">", tensor, IN_NETWORK[name]] = value
    elif part == "level" and tensor and name in AT_LEVEL:
        found[place, tensor, AT_LEVEL[name]] = value
    elif part == "level" and not tensor and name in OF_LEVEL:
        found[place, OF_LEVEL[name]] = value


def shows(text, value):
    """Could this value have been printed as this text?"""
    if isinstance(text, list):
        return (isinstance(value, list) and len(text) == len(value) and
                all(map(shows, text, value)))
    if value is None:
        return False
    number = float(text.rstrip("%"))
    if text.endswith("%"):
        value *= 100
    digits = len(text.rstrip("%").partition(".")[2])
    slack = 0.5 * 10.0**-digits if digits else 0
    return abs(value - number) <= slack + 1e-9 * abs(value) * (digits > 0)
