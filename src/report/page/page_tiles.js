// Tiles: the few figures that somebody opens the page for, large; and sections,
// the frames that everything else stands in.
'use strict';

// A part that cannot be shown, as its document is not what it says it is, says so and
// leaves the others alone.
calm.guard = (build) => {
  try {
    return build();
  } catch (fault) {
    return calm.make(
      'p',
      { class: 'fault' },
      `This part cannot be shown: ${fault.message}`,
    );
  }
};

// A section with a heading, or nothing if it has no contents.
calm.section = (id, title, note, build) => {
  const body = calm.guard(build);
  if (!body || (Array.isArray(body) && !body.some(Boolean))) return null;
  return calm.make(
    'section',
    { id, class: 'section', 'aria-labelledby': `${id}-title` },
    calm.make('h3', { id: `${id}-title` }, title),
    note && calm.make('p', { class: 'note' }, note),
    body,
  );
};

// `value` large, `unit` beside it, `detail` below, `mark` a word on a coloured ground:
// good, open or bad.
calm.tile = ({ title, value, detail, mark, kind }) =>
  calm.make(
    'div',
    { class: `tile${kind ? ` tile-${kind}` : ''}` },
    calm.make('dt', {}, title),
    calm.make(
      'dd',
      {},
      calm.make('span', { class: 'tile-value' }, value),
      mark && calm.make('span', { class: `mark mark-${mark.kind}` }, mark.text),
      detail && calm.make('span', { class: 'tile-detail' }, detail),
    ),
  );

// In rows of about equal length, of at most six.
calm.tiles = (tiles, label) => {
  const kept = tiles.filter(Boolean);
  const columns = Math.max(4, Math.ceil(kept.length / Math.ceil(kept.length / 6)));
  return calm.make(
    'dl',
    { class: 'tiles', 'aria-label': label || 'Figures', style: `--columns:${columns}` },
    kept.map(calm.tile),
  );
};

calm.bytesTile = (title, bytes, more) =>
  calm.number(bytes) === null
    ? null
    : { title, value: calm.kib(bytes), detail: calm.bytes(bytes), ...more };

// What a search ended with, as a word and a sign.
calm.statusMark = (status) => {
  const marks = {
    optimal: ['good', '✓ proved optimal'],
    feasible: ['open', '≈ not proved'],
    infeasible: ['bad', '✕ infeasible'],
    limit: ['open', '… limit reached'],
    failed: ['bad', '✕ failed'],
    open: ['open', '… not done'],
  };
  const [kind, text] = marks[status] || ['open', calm.name(status)];
  return { kind, text };
};

calm.markNode = (mark) =>
  calm.make('span', { class: `mark mark-${mark.kind}` }, mark.text);

// A part of a section, under a heading of its own.
calm.part = (title, node) =>
  node && calm.make('div', { class: 'part' }, calm.make('h4', {}, title), node);

// Names and what they are, one a line.
calm.facts = (rows) => {
  const kept = rows.filter(
    (row) => row && calm.known(row[1]) && row[1] !== '' && row[1] !== false,
  );
  return kept.length === 0
    ? null
    : calm.make(
        'dl',
        { class: 'facts' },
        kept.map(([key, value]) => [
          calm.make('dt', {}, key),
          calm.make('dd', {}, value),
        ]),
      );
};

// What the colours of a chart stand for; each entry has a pattern as well.
calm.legend = (entries) =>
  calm.make(
    'ul',
    { class: 'legend', 'aria-label': 'Legend' },
    entries.map(({ name, swatch }) =>
      calm.make('li', {}, calm.make('span', { class: `swatch ${swatch}` }), name),
    ),
  );
