"""The report that Timeloop prints (NAME.stats.txt), and whether figures are
those in it, to the digits that it shows.

Read are the levels, the networks and the summary.  Reports of several years of
Timeloop differ in what they list, so whatever is there is compared.
"""
import re

# Timeloop's words for our keys.
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
}
OF_LEVEL = {"Cycles": "cycles", "Leakage energy (total)": "leak_energy_pj"}
OF_COMPUTE = {"Cycles": "compute_cycles", "Computes (total)": "computes",
              "Utilized instances": "multipliers",
              "Energy (total)": "compute_energy_pj"}
IN_NETWORK = {
    "Fanout": "fanout",
    "Ingresses": "ingresses",
    "Link transfers": "link_transfers",
    "Spatial reductions": "spatial_reductions",
    "Average number of hops": "hops",
    "Energy (total)": "energy_pj",
    "Link transfer energy (total)": "link_energy_pj",
}
PAIR = re.compile(r"^( *)(\w[^:]*?) *:(?: +(-?[\d.e+]+)(.*))?$")


def read(path):
    """{figure: text as printed}, with the keys of figures.py.

    Two more: ("energy_uj",) and ("fj", NAME), energy per computation.
    """
    found, place, tensor, fj = {}, None, None, 0.0
    compute = network = False
    for line in path.read_text().splitlines():
        section = re.match(r"=== (\S+) ===", line)
        between = re.match(r"(\S+) <==> (\S+)$", line)
        if line.startswith("Level ") or line.startswith("Network "):
            compute = line == "Level 0"
            network = line.startswith("Network ")
        elif section or between:
            place, tensor = (section or between).group(1), None
        elif line.startswith(("Operational", "Summary Stats", "Total")):
            place, compute = None, False
            summary(found, line)
        elif place is None:
            fj = summary(found, line, fj)
        else:
            tensor = item(found, line, place, tensor, compute, network)
    return found


def summary(found, line, unit=0.0):
    """A line of the summary; the unit of the energies that follow, in fJ."""
    for name, key in (("Cycles", "cycles"), ("Energy", "energy_uj"),
                      ("Utilization", "utilization"),
                      ("Total topology energy", "energy_pj")):
        match = re.match(rf"{name}: ([\d.]+)(%?)", line)
        if match:
            found[key,] = match.group(1) + match.group(2)
    match = re.match(r"(\S+) += +([\d.]+)$", line.strip())
    if match and unit:
        found["fj", match.group(1)] = match.group(2), unit
    return {"fJ/Compute": 1.0, "pJ/MACC": 1e3,
            "pJ/Compute": 1e3}.get(line.strip(), unit)


def item(found, line, place, tensor, compute, network):
    """A line below a level or network; the tensor that following ones are
    about."""
    match = PAIR.match(line)
    if not match:
        return tensor
    indent, name, value, _ = match.groups()
    if value is None:
        return name if len(indent) == 4 else tensor
    if compute and name in OF_COMPUTE:
        found[OF_COMPUTE[name],] = value
    elif network and name in IN_NETWORK and tensor:
        found[place + ">", tensor, IN_NETWORK[name]] = value
    elif not network and tensor and name in AT_LEVEL:
        found[place, tensor, AT_LEVEL[name]] = value
    elif not network and not tensor and name in OF_LEVEL:
        found[place, OF_LEVEL[name]] = value
    return tensor


def shows(text, value):
    """Could this value have been printed as this text?"""
    if value is None:
        return False
    number = text.rstrip("%")
    digits = len(number.partition(".")[2])
    if text.endswith("%"):
        value *= 100
    return abs(value - float(number)) <= 0.5 * 10**-digits * (1 + 1e-9) + (
        1e-12 * abs(value))
