"""What Timeloop prints for a mapping (timeloop-model.stats.txt), as figures.

The keys are those of tests/mapping/figures.py; the values are the texts that
were printed, as only so many digits of a figure can be compared.
"""
import re

import stats

# Words that today's reports have, beside those of all years.
AT_LEVEL = {**stats.AT_LEVEL,
            "Address Generation Energy (total)": "address_energy_pj"}
OF_LEVEL = {**stats.OF_LEVEL, "Bandwidth throttling": "slowdown"}
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
    elif part == "compute" and name in stats.OF_COMPUTE:
        found[stats.OF_COMPUTE[name],] = value
    elif part == "network" and tensor and name in stats.IN_NETWORK:
        found[place + ">", tensor, stats.IN_NETWORK[name]] = value
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
