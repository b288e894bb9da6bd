// A loop nest as one reads it, outermost first, from the text of a mapping as
// Timeloop reads it; and what a nest costs, level by level.
'use strict';

// Lines { level, dimension, bound, spread } of a mapping, or null if its text is of
// another make.  In a permutation the innermost loop stands first; of spatial loops
// the first `split` ones lie along X.
calm.nestLoops = (text) => {
  const levels = [];
  for (const block of String(text || '')
    .split(/^- /m)
    .slice(1)) {
    const field = (key) => (new RegExp(`^ *${key}: *(.*)$`, 'm').exec(block) || [])[1];
    const target = field('target');
    if (!target) return null;
    let level = levels.find((one) => one.name === target);
    if (!level) levels.push((level = { name: target, keep: null, loops: [] }));
    if (field('type') === 'datatype') level.keep = field('keep');
    else if (field('factors')) level.loops.push(...calm.loopsOf(field));
  }
  return levels.length > 0 ? levels : null;
};

calm.loopsOf = (field) => {
  const bounds = new Map(
    [...field('factors').matchAll(/([A-Za-z_]+?)=?(\d+)(?:,(\d+))?(?=\s|$)/g)].map(
      ([, dimension, bound, rest]) => [dimension, { bound: Number(bound), rest }],
    ),
  );
  const order = field('permutation') || '';
  const dimensions = /[ ,]/.test(order) ? order.split(/[ ,]+/) : [...order];
  const split = Number(field('split') ?? dimensions.length);
  const loops = dimensions.map((dimension, at) => ({
    dimension,
    ...bounds.get(dimension),
    spread: field('type') === 'spatial' ? (at < split ? 'X' : 'Y') : null,
  }));
  return loops.filter((loop) => loop.bound > 1).reverse();
};

calm.nestView = (layer) => {
  const levels = calm.nestLoops(layer.mapping);
  if (!levels)
    return layer.mapping ? calm.make('pre', { class: 'nest' }, layer.mapping) : null;
  let depth = 0;
  const lines = [];
  levels.forEach((level) => {
    lines.push(
      calm.make(
        'div',
        { class: 'nest-level' },
        level.name,
        calm.make('span', { class: 'nest-keep' }, calm.roomWords(layer, level)),
      ),
    );
    level.loops.forEach((loop) =>
      lines.push(
        calm.make(
          'div',
          { class: 'nest-loop', style: `padding-left:${1.1 + 0.85 * depth++}em` },
          calm.make(
            'span',
            { class: loop.spread ? 'nest-parallel' : 'nest-for' },
            loop.spread ? 'parallel' : 'for',
          ),
          ` ${loop.dimension} in ${loop.bound}`,
          loop.rest && ` (the last to ${loop.rest})`,
          loop.spread && ` (${loop.spread})`,
        ),
      ),
    );
  });
  return calm.make(
    'div',
    {
      class: 'nest',
      tabindex: 0,
      role: 'region',
      'aria-label': 'Loop nest, outermost first',
    },
    lines,
  );
};

// What a level keeps, and how much of its room that takes.
calm.roomWords = (layer, level) => {
  const found = calm.list(layer.levels).find((one) => one.name === level.name);
  if (!found) return level.keep ? ` keeps ${level.keep}` : '';
  const tiles = calm
    .list(found.tensors)
    .map((tensor) => `${tensor.name} ${calm.count(tensor.tile_words)}`)
    .join(', ');
  const room =
    calm.number(found.capacity_words) === null
      ? ''
      : ` · ${calm.count(found.used_words)} of ${calm.count(found.capacity_words)} words`;
  return ` ${tiles}${room}`;
};

// All tensors of a layer, in the order in which levels name them.
calm.tensorNames = (layer) => [
  ...new Set(
    calm
      .list(layer.levels)
      .flatMap((level) =>
        calm.list(level.tensors).map((tensor) => calm.name(tensor.name)),
      ),
  ),
];

calm.levelNote = (level) =>
  level.instances > 1 ? `× ${calm.count(level.instances)}` : '';

calm.energyBars = (layer) => {
  const names = calm.tensorNames(layer);
  const rows = calm.list(layer.levels).map((level) => ({
    name: calm.name(level.name),
    note: calm.levelNote(level),
    parts: [
      ...calm
        .list(level.tensors)
        .map((tensor) => ({ name: calm.name(tensor.name), value: tensor.energy_pj })),
      { name: 'leakage', value: level.leak_energy_pj },
    ],
  }));
  rows.push(
    { name: 'Networks', parts: [{ name: 'networks', value: layer.network_energy_pj }] },
    {
      name: 'Multipliers',
      note: layer.multipliers > 1 ? `× ${calm.count(layer.multipliers)}` : '',
      parts: [{ name: 'multipliers', value: layer.compute_energy_pj }],
    },
  );
  const used = rows.filter((row) => row.parts.some((part) => part.value > 0));
  const extra = ['multipliers', 'networks', 'leakage'].filter((name) =>
    used.some((row) => row.parts.some((part) => part.name === name && part.value > 0)),
  );
  return calm.bars({
    rows: used,
    names: [...names, ...extra],
    show: calm.energy,
    label: 'Energy by level',
  });
};

calm.wordBars = (layer) =>
  calm.bars({
    names: calm.tensorNames(layer),
    show: calm.short,
    label: 'Words moved by level',
    rows: calm.list(layer.levels).map((level) => ({
      name: calm.name(level.name),
      note: calm.levelNote(level),
      parts: calm.list(level.tensors).map((tensor) => ({
        name: calm.name(tensor.name),
        value:
          ((tensor.reads || 0) + (tensor.fills || 0) + (tensor.updates || 0)) *
          (level.instances || 1),
      })),
    })),
  });

calm.cycleBars = (layer) => {
  const limit = layer.limiting_level;
  const rows = calm.list(layer.levels).map((level) => ({
    name: calm.name(level.name),
    note: level.name === limit ? 'limits' : '',
    parts: [{ name: 'cycles', value: level.cycles }],
  }));
  return rows.length === 0
    ? null
    : calm.plainBars([
        ...rows,
        {
          name: 'Multipliers',
          note: limit ? '' : 'limit',
          parts: [{ name: 'cycles', value: layer.compute_cycles }],
        },
      ]);
};

// Without a division, and without shares of a whole that is none.
calm.plainBars = (rows) => {
  const most = calm.most(rows.map((row) => row.parts[0].value || 0));
  return !(most > 0)
    ? null
    : calm.make(
        'div',
        { class: 'bars' },
        rows.map((row) =>
          calm.make(
            'div',
            { class: 'bars-row' },
            calm.make(
              'span',
              { class: 'bars-name' },
              row.name,
              row.note && calm.make('span', { class: 'bars-note' }, ` ${row.note}`),
            ),
            calm.make(
              'span',
              { class: 'bars-room' },
              calm.make('span', {
                class: 'bars-part part-0',
                style: `width:${((100 * (row.parts[0].value || 0)) / most).toFixed(2)}%`,
              }),
            ),
            calm.make('span', { class: 'bars-value' }, calm.count(row.parts[0].value)),
          ),
        ),
      );
};

calm.levelTable = (layer) => {
  const rows = calm.list(layer.levels).flatMap((level) =>
    calm.list(level.tensors).map((tensor) => ({
      ...tensor,
      level: level.name,
      instances: level.instances,
    })),
  );
  return rows.length === 0
    ? null
    : calm.table({
        label: 'Words by level and tensor',
        rows,
        search: false,
        columns: [
          calm.words('Level', (row) => row.level),
          calm.figure('Instances', (row) => row.instances),
          calm.words('Tensor', (row) => row.name),
          calm.figure('Tile, words', (row) => row.tile_words),
          calm.figure('Reads', (row) => row.reads),
          calm.figure('Fills', (row) => row.fills),
          calm.figure('Updates', (row) => row.updates),
          calm.figure('Energy', (row) => row.energy_pj, calm.energy),
        ],
      });
};

calm.nestTiles = (layer) =>
  calm.tiles(
    [
      {
        title: 'Energy',
        value: calm.energy(layer.energy_pj),
        detail: `${calm.count(layer.energy_pj)} pJ`,
      },
      {
        title: 'Cycles',
        value: calm.short(layer.cycles),
        detail:
          `${calm.count(layer.cycles)} cycles` +
          (layer.limiting_level ? ` · ${layer.limiting_level} limits` : ''),
      },
      { title: 'Energy × delay', value: calm.short(layer.edp), detail: 'pJ × cycles' },
      {
        title: 'Utilisation',
        value: calm.percent(layer.utilization),
        detail: `${calm.count(layer.multipliers)} multipliers in use`,
      },
    ],
    'Costs of the nest',
  );

// All that is known of one nest: how it loops, and what it costs where.
calm.nestParts = (layer) => {
  const { part } = calm;
  const fanouts = calm.list((layer.explanation || {}).fanouts);
  return calm.make(
    'div',
    {},
    calm.nestTiles(layer),
    calm.make(
      'div',
      { class: 'columns' },
      part('Loop nest, outermost first', calm.nestView(layer)),
      calm.make(
        'div',
        { class: 'stack' },
        part('Energy by level', calm.energyBars(layer)),
        part('Words moved by level, over all instances', calm.wordBars(layer)),
        part('Cycles that each level needs', calm.cycleBars(layer)),
        fanouts.length > 0 &&
          part(
            'Use of the array',
            calm.make('div', { class: 'meshes' }, fanouts.map(calm.mesh)),
          ),
      ),
    ),
    part('Words of each used instance', calm.levelTable(layer)),
    calm.list(calm.nestLoops(layer.mapping)).length > 0 &&
      calm.make(
        'details',
        {},
        calm.make('summary', {}, 'The nest as Timeloop reads it'),
        calm.make('pre', { class: 'nest' }, layer.mapping),
      ),
  );
};
