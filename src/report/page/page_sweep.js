// A sweep: many designs for many layers, of which few are worth a look.
'use strict';

calm.sweepLine = (sweep) =>
  [sweep.name, calm.objectiveWords(sweep.objective)].filter(Boolean).join(' · ');

// Parameters with more than one value among the designs, and those that are the same
// everywhere, which would only fill columns.
calm.varied = (rows) => {
  const values = new Map();
  rows.forEach((row) =>
    Object.entries(row.parameters || {}).forEach(([name, value]) =>
      values.set(name, (values.get(name) || new Set()).add(String(value))),
    ),
  );
  const lone = (name) =>
    rows.length > 1 &&
    values.get(name).size === 1 &&
    rows.every((row) => calm.known((row.parameters || {})[name]));
  const names = [...values.keys()];
  return {
    names: names.filter((name) => !lone(name)),
    fixed: names.filter(lone).map((name) => `${name} = ${[...values.get(name)][0]}`),
  };
};

calm.parametersOf = (row, names) =>
  Object.entries(row.parameters || {})
    .filter(([name]) => !names || names.includes(name))
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');

calm.designName = (row, names) =>
  [row.arch, calm.parametersOf(row, names)].filter(Boolean).join(': ') || '?';

calm.sweepTiles = (sweep) => {
  const counts = sweep.counts || {};
  const designs = calm.list(sweep.designs);
  const { names } = calm.varied(designs);
  const whole = (one) => one.complete ?? (!one.failed && !(one.points > one.done));
  const best = (field) =>
    designs
      .filter((one) => calm.number(one[field]) !== null && whole(one))
      .reduce(
        (least, one) => (!least || one[field] < least[field] ? one : least),
        null,
      );
  const bestTile = (title, field, show) =>
    best(field) && {
      title,
      kind: 'after',
      value: show(best(field)[field]),
      detail: calm.designName(best(field), names),
    };
  return calm.tiles(
    [
      { title: 'Points', value: calm.count(counts.points) },
      {
        title: 'Done',
        value: calm.count(counts.done),
        mark:
          counts.points > 0 && counts.done === counts.points
            ? { kind: 'good', text: '✓ all' }
            : null,
      },
      {
        title: 'Failed',
        value: calm.count(counts.failed),
        mark: counts.failed > 0 ? { kind: 'bad', text: '✕ see below' } : null,
      },
      counts.left > 0 && { title: 'Left to do', value: calm.count(counts.left) },
      {
        title: 'Designs',
        value: calm.count(designs.length),
        detail: `${designs.filter((one) => one.pareto).length} on the front`,
      },
      bestTile('Least energy', 'energy_pj', calm.energy),
      bestTile('Fewest cycles', 'cycles', calm.short),
      bestTile('Least energy × delay', 'edp', calm.short),
    ],
    'The sweep',
  );
};

calm.sweepParts = (id, sweep) => [
  calm.sweepTiles(sweep),
  calm.section(`${id}-front`, 'Energy over cycles', null, () => calm.sweepChart(sweep)),
  calm.section(
    `${id}-designs`,
    'Designs',
    ['All layers together.', ...calm.fixedNote(sweep)].join(' '),
    () => calm.designTable(sweep),
  ),
  calm.section(`${id}-points`, 'Points', null, () => calm.pointTable(sweep)),
];

calm.fixedNote = (sweep) => {
  const { fixed } = calm.varied(calm.list(sweep.designs));
  return fixed.length > 0 ? [`The same for all: ${fixed.join(', ')}.`] : [];
};

calm.dotOf = (row, name, lines, group = '') => ({
  group: `${row.mapper}, ${row.objective}, ${group}`,
  x: row.cycles,
  y: row.energy_pj,
  pareto: row.pareto,
  name,
  lines: [
    ...Object.entries(row.parameters || {}),
    row.mapper && ['mapper', row.mapper],
    ['energy × delay', calm.short(row.edp)],
    ...lines,
  ].filter(Boolean),
});

calm.sweepChart = (sweep) => {
  const designs = calm
    .list(sweep.designs)
    .map((one) =>
      calm.dotOf(one, calm.name(one.arch), [
        ['layers done', `${calm.count(one.done)} of ${calm.count(one.points)}`],
        one.failed > 0 && ['failed', calm.count(one.failed)],
      ]),
    );
  const points = calm
    .list(sweep.points)
    .map((one) =>
      calm.dotOf(
        one,
        [one.layer, one.arch].filter(Boolean).join(' on '),
        [calm.sourceOf(one) && ['model', calm.sourceOf(one)], ['status', one.status]],
        `${one.source} ${one.layer}`,
      ),
    );
  const choices = [
    ['designs', designs],
    ['points', points],
  ].filter(([, some]) => some.some((one) => one.x > 0 && one.y > 0));
  if (choices.length === 0) return null;
  const room = calm.make('div');
  const show = (at) =>
    room.replaceChildren(
      calm.scatter({
        points: choices[at][1],
        label: `Energy over cycles of all ${choices[at][0]}`,
      }),
    );
  show(0);
  return [
    choices.length > 1 &&
      calm.choice('Show', ['designs', 'points: a layer on a design'], show),
    room,
  ];
};

// A column for each parameter that any row has.
calm.parameterColumns = (rows) => {
  const { names } = calm.varied(rows);
  const number = (value) =>
    !calm.known(value) || typeof value === 'number' || /^-?[\d.]+$/.test(value);
  const of = (name) => (row) => (row.parameters || {})[name] ?? null;
  return names.map((name) =>
    rows.every((row) => number(of(name)(row)))
      ? calm.figure(
          name,
          (row) => calm.asNumber(of(name)(row)),
          (value) => (calm.known(value) ? String(value) : '–'),
        )
      : calm.words(name, of(name)),
  );
};

calm.asNumber = (value) => (calm.known(value) ? Number(value) : null);
calm.sourceOf = (row) =>
  calm.known(row.source ?? row.model) ? calm.baseName(row.source ?? row.model) : null;

calm.costColumns = (rows) => [
  calm.barColumn(
    'Energy',
    (row) => row.energy_pj,
    calm.energy,
    calm.most(rows.map((row) => row.energy_pj || 0)),
  ),
  calm.barColumn(
    'Cycles',
    (row) => row.cycles,
    calm.count,
    calm.most(rows.map((row) => row.cycles || 0)),
  ),
  calm.figure('Energy × delay', (row) => row.edp, calm.short),
];

calm.searchColumns = () => [
  calm.words('Mapper', (row) => row.mapper),
  calm.words('Objective', (row) => row.objective),
];

calm.frontColumn = () =>
  calm.words('Front', (row) =>
    row.pareto ? '◆ yes' : row.pareto === false ? 'no' : null,
  );

calm.usedColumns = (columns, rows) =>
  columns.filter((column) =>
    rows.some((row) => calm.known(column.value(row)) && column.value(row) !== ''),
  );

calm.designTable = (sweep) => {
  const rows = calm.list(sweep.designs);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Designs',
        rows,
        columns: calm.usedColumns(
          [
            calm.words('Machine', (row) => row.arch),
            calm.frontColumn(),
            ...calm.costColumns(rows),
            ...calm.parameterColumns(rows),
            ...calm.searchColumns(),
            calm.figure('Layers', (row) => row.points),
            calm.figure('Done', (row) => row.done),
            calm.figure('Failed', (row) => row.failed),
          ],
          rows,
        ),
      });
};

calm.pointTable = (sweep) => {
  const rows = calm.list(sweep.points);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Points',
        rows,
        columns: calm.usedColumns(
          [
            calm.words('Model', calm.sourceOf),
            calm.words('Layer', (row) => row.layer),
            calm.words('Machine', (row) => row.arch),
            calm.words('Status', (row) => row.status, {
              show: (status) => calm.markNode(calm.statusMark(status)),
              room: 3,
            }),
            ...calm.costColumns(rows),
            calm.frontColumn(),
            ...calm.parameterColumns(rows),
            ...calm.searchColumns(),
            calm.words('Reason', (row) => row.reason, { most: 90 }),
          ],
          rows,
        ),
      });
};
