// Networks as they are (calm inspect), checks of plans, and packings of buffers.
'use strict';

calm.inspectTiles = (data) => {
  const [graph, floor] = [data.graph || {}, data.floor || {}];
  return calm.tiles(
    [
      calm.bytesTile('Peak of live bytes', data.peak_bytes, {
        kind: 'before',
        detail: `${calm.bytes(data.peak_bytes)} · step ${calm.count(data.peak_step)}`,
      }),
      calm.bytesTile('Floor', floor.bytes, {
        detail: `${calm.bytes(floor.bytes)} · for ${calm.name(floor.op)}`,
      }),
      calm.bytesTile('All activations', graph.activation_bytes),
      calm.bytesTile('Weights', graph.weight_bytes),
      calm.number(data.rewrite_sites) !== null && {
        title: 'Sites of rewriting',
        value: calm.count(data.rewrite_sites),
      },
      { title: 'Plan in the file', value: data.offline_plan ? 'yes' : 'no' },
      ...calm.runtimeTiles(data.runtime),
    ],
    'Memory of the network',
  );
};

calm.inspectParts = (id, data, drawings) => {
  const steps = calm.list(data.steps);
  return [
    calm.inspectTiles(data),
    calm.section(
      `${id}-steps`,
      'Live bytes per step',
      'In the order of the file.',
      () =>
        calm.steps({
          label: 'Live bytes per step',
          bound: null,
          series: [
            {
              name: 'order of the file',
              values: steps.map((step) => calm.number(step.bytes) || 0),
              area: true,
              operators: steps.map(
                (step) => `${calm.name(step.op)} (${calm.name(step.kind)})`,
              ),
              colour: 'after',
              pin: 'peak',
            },
          ],
        }),
    ),
    calm.section(`${id}-peak`, 'Alive at the peak', null, () =>
      calm.aliveTable(data.peak),
    ),
    calm.section(`${id}-graph`, 'Graph where it matters', null, () =>
      calm.drawings(data, drawings),
    ),
    calm.section(`${id}-remedies`, 'What would help', null, () =>
      calm.remedyTable(data.remedies),
    ),
    calm.section(`${id}-traffic`, 'Off-chip traffic', null, () =>
      calm.trafficTable(data.traffic),
    ),
    calm.section(`${id}-operators`, 'Operators', null, () => calm.stepTable(steps)),
    calm.section(`${id}-tensors`, 'Tensors', null, () => calm.inspectTensors(data)),
  ];
};

calm.aliveTable = (peak) => {
  const rows = calm.list((peak || {}).alive);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Alive at the peak',
        rows,
        columns: [
          calm.words('Tensor', (row) => row.name),
          calm.barColumn(
            'Bytes',
            (row) => row.bytes,
            calm.count,
            calm.most(rows.map((row) => row.bytes)),
          ),
          calm.figure('First step', (row) => row.first),
          calm.figure('Last step', (row) => row.last),
        ],
      });
};

calm.remedyTable = (remedies) => {
  const rows = calm.list(remedies);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'What would help',
        rows,
        columns: [
          calm.words('Option', (row) => row.text, { most: 80 }),
          calm.bytesColumn('Floor, B', (row) => row.floor_bytes),
          calm.bytesColumn('Peak, B', (row) => row.peak_bytes),
        ],
      });
};

calm.stepTable = (steps) =>
  steps.length === 0
    ? null
    : calm.table({
        label: 'Operators',
        rows: steps,
        columns: [
          calm.figure('Step', (row) => row.step),
          calm.words('Operator', (row) => row.op),
          calm.words('Kind', (row) => row.kind),
          calm.figure('In the file', (row) => row.index),
          calm.barColumn(
            'Live bytes',
            (row) => row.bytes,
            calm.count,
            calm.most(steps.map((step) => step.bytes)),
          ),
        ],
      });

calm.inspectRole = (row) =>
  ['input', 'output', 'const', 'variable']
    .filter((role) => row[role] === true)
    .join(', ') ||
  row.role ||
  'activation';

calm.inspectTensors = (data) => {
  const rows = calm.list(data.tensors);
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Tensors',
        rows,
        columns: [
          calm.words('Tensor', (row) => row.name),
          calm.words('Role', calm.inspectRole),
          calm.words('Type', (row) => row.type),
          calm.words('Shape', (row) => calm.shape(row)),
          calm.bytesColumn('Bytes', (row) => row.bytes),
          calm.words('In the arena', (row) => calm.yes(row.counted)),
          calm.figure('First step', (row) => row.first),
          calm.figure('Last step', (row) => row.last),
        ],
      });
};

calm.checkParts = (id, data) => {
  const found = [
    ...calm.list(data.faults).map((one) => ({ ...one, rank: 'fault' })),
    ...calm.list(data.warnings).map((one) => ({ ...one, rank: 'warning' })),
  ];
  return [
    calm.tiles(
      [
        {
          title: 'Verdict',
          value: data.valid ? 'Valid' : 'Not valid',
          mark: data.valid
            ? { kind: 'good', text: '✓ no fault' }
            : { kind: 'bad', text: '✕ faults' },
        },
        calm.bytesTile('Arena', data.arena_bytes),
        { title: 'Faults', value: calm.count(calm.list(data.faults).length) },
        { title: 'Warnings', value: calm.count(calm.list(data.warnings).length) },
        ...calm.runtimeTiles(data.runtime),
      ],
      'The check',
    ),
    calm.section(
      `${id}-found`,
      'Faults and warnings',
      null,
      () =>
        found.length > 0 &&
        calm.table({
          label: 'Faults and warnings',
          rows: found,
          columns: [
            calm.words('', (row) => row.rank),
            calm.words('Kind', (row) => row.kind),
            calm.words('Tensors', (row) => calm.list(row.tensors).join(', ')),
            calm.words('What', (row) => row.text, { most: 100 }),
          ],
        }),
    ),
  ];
};

// A packing is drawn as an arena whose steps are its times.
calm.packParts = (id, data) => {
  const rows = calm.list(data.buffers);
  const buffers = rows.map((row) => ({
    name: String(row.id),
    bytes: row.bytes,
    offset: row.offset,
    first: row.lower,
    last: row.upper - 1,
  }));
  return [
    calm.tiles(
      [
        calm.bytesTile('Arena', data.arena_bytes, {
          kind: 'after',
          mark: calm.statusMark(data.status),
        }),
        calm.boundTile(data, data),
        calm.budgetTile(data),
        { title: 'Buffers', value: calm.count(rows.length) },
      ],
      'The packing',
    ),
    calm.section(`${id}-arena`, 'Arena', null, () =>
      calm.arena(
        { layout: { arena_bytes: data.arena_bytes, buffers } },
        { steps: 'time' },
      ),
    ),
    calm.section(
      `${id}-buffers`,
      'Buffers',
      null,
      () =>
        rows.length > 0 &&
        calm.table({
          label: 'Buffers',
          rows,
          columns: [
            calm.words('Buffer', (row) => row.id),
            calm.figure('From', (row) => row.lower),
            calm.figure('Until before', (row) => row.upper),
            calm.bytesColumn('Bytes', (row) => row.bytes),
            calm.figure('Offset', (row) => row.offset),
          ],
        }),
    ),
  ];
};
