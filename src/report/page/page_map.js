// What calm map found: all layers in a table, one of them in full; and calm eval, which
// is one nest.
'use strict';

// What is to be least, as one would say it.
calm.OBJECTIVES = {
  edp: 'least energy × delay',
  energy: 'least energy',
  delay: 'fewest cycles',
  pareto: 'least energy for each number of cycles',
};
calm.objectiveWords = (word) => word && (calm.OBJECTIVES[word] || `least ${word}`);

calm.mapLine = (map) =>
  [
    map.arch && `on ${map.arch}`,
    map.mapper && `mapper ${map.mapper}`,
    calm.objectiveWords(map.objective),
    map.cost && `cost model ${map.cost}`,
  ]
    .filter(Boolean)
    .join(' · ');

calm.mapTiles = (map) => {
  const total = map.total || {};
  const layers = calm.list(map.layers);
  const proved = layers.filter((layer) => layer.status === 'optimal').length;
  return calm.tiles(
    [
      {
        title: 'Layers with a nest',
        value:
          `${calm.count(total.mapped ?? layers.length)} of ` +
          `${calm.count(total.layers ?? layers.length)}`,
        mark:
          proved === layers.length && proved > 0
            ? { kind: 'good', text: '✓ all proved optimal' }
            : { kind: 'open', text: `${proved} proved optimal` },
        detail: 'equal ones counted once',
      },
      {
        title: 'Energy',
        kind: 'after',
        value: calm.energy(total.energy_pj),
        detail: `${calm.count(total.energy_pj)} pJ`,
      },
      {
        title: 'Cycles',
        kind: 'after',
        value: calm.short(total.cycles),
        detail: `${calm.count(total.cycles)} cycles`,
      },
      { title: 'Energy × delay', value: calm.short(total.edp), detail: 'pJ × cycles' },
      {
        title: 'Utilisation',
        value: calm.percent(total.utilization),
        detail: 'of all multipliers',
      },
      {
        title: 'Multiplications',
        value: calm.short(total.macs),
        detail: calm.count(total.macs),
      },
      calm.number(total.bound) !== null && {
        title: 'Proved bound',
        value: calm.short(total.bound),
      },
    ],
    'Totals of the network',
  );
};

calm.layerShape = (layer) =>
  Object.entries(layer.dimensions || {})
    .map(([name, bound]) => `${name}${bound}`)
    .join(' ');

calm.layerTable = (layers, pick) => {
  const times = (layer, value) =>
    calm.number(value) === null ? null : value * (layer.count || 1);
  const energy = (layer) => times(layer, layer.energy_pj);
  const cycles = (layer) => times(layer, layer.cycles);
  return calm.table({
    label: 'Layers',
    rows: layers,
    pick,
    picked: pick && layers[0],
    columns: [
      calm.words('Layer', (layer) => layer.name, { most: 28 }),
      calm.figure('Times', (layer) => layer.count),
      calm.words('Status', (layer) => layer.status, {
        show: (status) => calm.markNode(calm.statusMark(status)),
        room: 3,
      }),
      calm.figure('Gap', (layer) => layer.gap, calm.percent),
      calm.barColumn(
        'Energy, all times',
        energy,
        calm.energy,
        calm.most(layers.map(energy)),
      ),
      calm.barColumn(
        'Cycles, all times',
        cycles,
        calm.count,
        calm.most(layers.map(cycles)),
      ),
      calm.figure('Utilisation', (layer) => layer.utilization, calm.percent),
      calm.figure('Energy × delay', (layer) => layer.edp, calm.short),
      calm.figure('Multiplications', (layer) => layer.macs),
      calm.words('Bounds', calm.layerShape),
      calm.words('Reason', (layer) => layer.reason),
    ].filter((column) =>
      layers.some(
        (layer) => calm.known(column.value(layer)) && column.value(layer) !== '',
      ),
    ),
  });
};

calm.proofWords = (layer) => {
  const sure = layer.certificate || {};
  return calm.facts([
    ['Status', calm.markNode(calm.statusMark(layer.status))],
    ['Why', layer.reason],
    ['Bounds of the loops', calm.layerShape(layer)],
    [
      'Value',
      calm.number(layer.value) !== null &&
        `${calm.short(layer.value)} (proved bound ` +
          `${calm.short(layer.bound)}, gap ${calm.percent(layer.gap)})`,
    ],
    [
      'Search',
      calm.number(sure.states) !== null &&
        `${calm.plural(sure.states, 'partial nest')}, ${calm.plural(sure.rounds, 'round')}`,
    ],
  ]);
};

calm.layerView = (layer) =>
  calm.make(
    'div',
    {},
    calm.make(
      'h4',
      { class: 'layer-name' },
      `${calm.name(layer.name)}` +
        (layer.count > 1 ? `, ${layer.count} times in the network` : ''),
    ),
    calm.make('div', { class: 'proof' }, calm.proofWords(layer)),
    calm.list(layer.levels).length > 0 ? calm.nestParts(layer) : null,
    calm.list(layer.front).length > 0 && calm.frontView(layer.front),
  );

calm.frontView = (front) =>
  calm.part(
    'Least energy for each number of cycles',
    calm.make(
      'div',
      { class: 'stack' },
      calm.scatter({
        label: 'Energy and cycles of the front',
        points: front.map((one, at) => ({
          x: one.cycles,
          y: one.energy_pj,
          pareto: true,
          name: `nest ${at + 1}`,
        })),
      }),
      calm.table({
        label: 'Nests of the front',
        rows: front,
        search: false,
        columns: [
          calm.figure('Cycles', (one) => one.cycles),
          calm.figure('Energy', (one) => one.energy_pj, calm.energy),
          calm.figure('Energy × delay', (one) => one.edp, calm.short),
        ],
      }),
    ),
  );

calm.mapParts = (id, map) => {
  const layers = calm.list(map.layers);
  const room = calm.make('div', { 'aria-live': 'polite' });
  const show = (layer) => room.replaceChildren(calm.layerView(layer));
  if (layers.length > 0) show(layers[0]);
  return [
    calm.mapTiles(map),
    calm.section(
      `${id}-layers`,
      'Layers',
      layers.length > 1 ? 'Choose a layer to see its nest below.' : null,
      () =>
        layers.length > 0 && calm.layerTable(layers, layers.length > 1 ? show : null),
    ),
    calm.section(
      `${id}-layer`,
      layers.length > 1 ? 'The chosen layer' : 'The nest',
      null,
      () => layers.length > 0 && room,
    ),
    calm.section(
      `${id}-skipped`,
      'Not mapped',
      'Operators with multiplications that are no layers.',
      () =>
        calm.list(map.skipped).length > 0 &&
        calm.table({
          label: 'Not mapped',
          rows: map.skipped,
          columns: [
            calm.words('Operator', (one) => one.name),
            calm.words('Reason', (one) => one.reason, { most: 90 }),
          ],
        }),
    ),
  ];
};

calm.evalLine = (result) =>
  [
    result.layer,
    result.arch && `on ${result.arch}`,
    result.cost && `cost model ${result.cost}`,
  ]
    .filter(Boolean)
    .join(' · ');

calm.verdict = (result) =>
  calm.make(
    'p',
    { class: 'section' },
    calm.markNode({ kind: 'bad', text: '✕ not valid' }),
    ` ${calm.name(result.reason ?? result.fault)}`,
  );

calm.evalParts = (id, result) => [
  result.valid === false && calm.verdict(result),
  calm.section(
    `${id}-nest`,
    'What the nest costs',
    result.mapping && `The nest of ${calm.baseName(result.mapping)}.`,
    () =>
      calm.list(result.levels).length > 0 &&
      calm.nestParts({ ...result, mapping: null }),
  ),
  calm.section(`${id}-networks`, 'Networks', null, () => calm.networkTable(result)),
];

calm.networkTable = (result) => {
  const rows = calm
    .list(result.networks)
    .flatMap((network) =>
      calm
        .list(network.tensors)
        .map((tensor) => ({ ...tensor, from: network.from, to: network.to })),
    );
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Networks',
        rows,
        columns: [
          calm.words('From', (row) => row.from),
          calm.words('To', (row) => row.to),
          calm.words('Tensor', (row) => row.name),
          calm.figure('Fan-out', (row) => row.fanout),
          calm.figure('Words in', (row) => row.ingresses),
          calm.figure('Multicast', (row) => row.multicast, calm.short),
          calm.figure('Hops', (row) => row.hops, calm.short),
          calm.figure('Spatial sums', (row) => row.spatial_reductions),
          calm.figure('Energy', (row) => row.energy_pj, calm.energy),
        ],
      });
};
