// A sweep: many designs for many layers, of which few are worth a look.
'use strict';

calm.sweepLine = (sweep) => [sweep.name, sweep.objective && `least ${sweep.objective}`]
  .filter(Boolean).join(' · ');

calm.parametersOf = (row) => Object.entries(row.parameters || {})
  .map(([name, value]) => `${name} = ${value}`).join(', ');

calm.designName = (row) => [row.arch, calm.parametersOf(row)].filter(Boolean).join(': ') || '?';

calm.sweepTiles = (sweep) => {
  const counts = sweep.counts || {};
  const designs = calm.list(sweep.designs);
  const best = (field) => designs.filter((one) => calm.number(one[field]) !== null && !one.failed &&
    !(one.points > one.done))
    .reduce((least, one) => (!least || one[field] < least[field] ? one : least), null);
  const bestTile = (title, field, show) => best(field) && { title, kind: 'after',
    value: show(best(field)[field]), detail: calm.designName(best(field)) };
  return calm.tiles([{ title: 'Points', value: calm.count(counts.points) },
    { title: 'Done', value: calm.count(counts.done), mark: counts.points > 0 &&
      counts.done === counts.points ? { kind: 'good', text: '✓ all' } : null },
    { title: 'Failed', value: calm.count(counts.failed),
      mark: counts.failed > 0 ? { kind: 'bad', text: '✕ see below' } : null },
    counts.left > 0 && { title: 'Left to do', value: calm.count(counts.left) },
    { title: 'Designs', value: calm.count(designs.length),
      detail: `${designs.filter((one) => one.pareto).length} on the front` },
    bestTile('Least energy', 'energy_pj', calm.energy), bestTile('Fewest cycles', 'cycles', calm.short),
    bestTile('Least energy × delay', 'edp', calm.short)], 'The sweep');
};

calm.sweepParts = (id, sweep) => [calm.sweepTiles(sweep),
  calm.section(`${id}-front`, 'Energy over cycles', null, () => calm.sweepChart(sweep)),
  calm.section(`${id}-designs`, 'Designs', 'All layers together.', () => calm.designTable(sweep)),
  calm.section(`${id}-points`, 'Points', null, () => calm.pointTable(sweep))];

calm.dotOf = (row, name, lines) => ({ x: row.cycles, y: row.energy_pj, pareto: row.pareto, name,
  lines: [...Object.entries(row.parameters || {}), row.mapper && ['mapper', row.mapper],
    ['energy × delay', calm.short(row.edp)], ...lines].filter(Boolean) });

calm.sweepChart = (sweep) => {
  const designs = calm.list(sweep.designs).map((one) => calm.dotOf(one, calm.name(one.arch),
    [['layers done', `${calm.count(one.done)} of ${calm.count(one.points)}`],
      one.failed > 0 && ['failed', calm.count(one.failed)]]));
  const points = calm.list(sweep.points).map((one) => calm.dotOf(one,
    [one.layer, one.arch].filter(Boolean).join(' on '),
    [one.model && ['model', one.model], ['status', one.status]]));
  const choices = [['designs', designs], ['points', points]]
    .filter(([, some]) => some.some((one) => one.x > 0 && one.y > 0));
  if (choices.length === 0) return null;
  const room = calm.make('div');
  const show = (at) => room.replaceChildren(calm.scatter({ points: choices[at][1],
    label: `Energy over cycles of all ${choices[at][0]}` }));
  show(0);
  return [choices.length > 1 && calm.choice('Show', ['designs', 'points: a layer on a design'], show),
    room];
};

// A column for each parameter that any row has.
calm.parameterColumns = (rows) => {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.parameters || {})))];
  const of = (name) => (row) => (row.parameters || {})[name] ?? null;
  return names.map((name) => (rows.every((row) => ['number', 'object'].includes(typeof of(name)(row)))
    ? calm.figure(name, of(name), (value) => (calm.known(value) ? String(value) : '–'))
    : calm.words(name, of(name))));
};

calm.costColumns = (rows) => [
  calm.barColumn('Energy', (row) => row.energy_pj, calm.energy,
    calm.most(rows.map((row) => row.energy_pj || 0))),
  calm.barColumn('Cycles', (row) => row.cycles, calm.count,
    calm.most(rows.map((row) => row.cycles || 0))),
  calm.figure('Energy × delay', (row) => row.edp, calm.short)];

calm.frontColumn = () => calm.words('Front', (row) => (row.pareto ? '◆ yes' : row.pareto === false
  ? 'no' : null));

calm.usedColumns = (columns, rows) => columns.filter((column) =>
  rows.some((row) => calm.known(column.value(row)) && column.value(row) !== ''));

calm.designTable = (sweep) => {
  const rows = calm.list(sweep.designs);
  return rows.length === 0 ? null : calm.table({ label: 'Designs', rows,
    columns: calm.usedColumns([calm.words('Machine', (row) => row.arch),
      ...calm.parameterColumns(rows), calm.words('Mapper', (row) => row.mapper), calm.frontColumn(),
      ...calm.costColumns(rows), calm.figure('Layers', (row) => row.points),
      calm.figure('Done', (row) => row.done), calm.figure('Failed', (row) => row.failed)], rows) });
};

calm.pointTable = (sweep) => {
  const rows = calm.list(sweep.points);
  return rows.length === 0 ? null : calm.table({ label: 'Points', rows,
    columns: calm.usedColumns([calm.words('Model', (row) => row.model),
      calm.words('Layer', (row) => row.layer), calm.words('Machine', (row) => row.arch),
      ...calm.parameterColumns(rows), calm.words('Mapper', (row) => row.mapper),
      calm.words('Status', (row) => row.status, { show: (status) =>
        calm.markNode(calm.statusMark(status)), room: 3 }),
      ...calm.costColumns(rows), calm.figure('Area', (row) => row.area, calm.short),
      calm.frontColumn(), calm.words('Reason', (row) => row.reason, { most: 90 })], rows) });
};
