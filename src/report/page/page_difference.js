// Two nests held against each other (calm eval with two mappings).
'use strict';

calm.signed = (show) => (value) =>
  calm.number(value) === null
    ? '–'
    : value > 0
      ? `+${show(value)}`
      : value < 0
        ? `−${show(-value)}`
        : show(0);

calm.differenceLine = (data) => {
  const first = calm.list(data.evaluations)[0] || {};
  return calm.evalLine(first);
};

calm.differenceParts = (id, data) => {
  const evaluations = calm.list(data.evaluations);
  return [
    calm.differenceTiles(data.difference, evaluations),
    calm.section(
      `${id}-changes`,
      'Where they differ',
      'The second nest less the first; words over all instances.',
      () => calm.changeTable(data.difference),
    ),
    evaluations.map((one, at) => [
      one.valid === false && calm.verdict(one),
      calm.section(
        `${id}-nest${at + 1}`,
        `Nest ${at + 1}: ${calm.baseName(one.mapping)}`,
        null,
        () =>
          calm.list(one.levels).length > 0 && calm.nestParts({ ...one, mapping: null }),
      ),
    ]),
  ];
};

calm.differenceTiles = (difference, evaluations) => {
  if (!difference || evaluations.length < 2) return null;
  const tile = (title, field, show) => {
    const [before, after] = evaluations.map((one) => calm.number(one[field]));
    return {
      title,
      value: calm.signed(show)(difference[field]),
      detail: `${show(before)} → ${show(after)}`,
    };
  };
  return calm.tiles(
    [
      tile('Energy', 'energy_pj', calm.energy),
      tile('Cycles', 'cycles', calm.count),
      tile('Energy × delay', 'edp', calm.short),
      tile('Utilisation', 'utilization', calm.percent),
    ],
    'What the second nest changes',
  );
};

calm.changeTable = (difference) => {
  const rows = calm.list((difference || {}).changes);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Where they differ',
        rows,
        columns: [
          calm.words('Level', (row) => row.level),
          calm.words('Network below, to', (row) => row.below),
          calm.words('Tensor', (row) => row.tensor),
          calm.figure('Reads', (row) => row.reads, calm.signed(calm.count)),
          calm.figure('Fills', (row) => row.fills, calm.signed(calm.count)),
          calm.figure('Updates', (row) => row.updates, calm.signed(calm.count)),
          calm.figure('Energy', (row) => row.energy_pj, calm.signed(calm.energy)),
        ],
      });
};
