// The tables of papers, made anew (calm bench): each section with its tables and notes.
'use strict';

calm.PAPER_KINDS = {
  count: calm.count,
  bytes: calm.count,
  share: calm.percent,
  ratio: calm.short,
  number: calm.short,
  seconds: calm.short,
};

calm.paperColumn = (column) => {
  const value = (row) => row[column.name] ?? null;
  const show = calm.PAPER_KINDS[column.kind];
  const title = `${calm.name(column.title ?? column.name)}${column.kind === 'bytes' ? ', B' : ''}`;
  return show ? calm.figure(title, value, show) : calm.words(title, value);
};

calm.paperTable = (table) =>
  calm.part(
    calm.name(table.title),
    calm.make(
      'div',
      {},
      calm.table({
        label: calm.name(table.title),
        rows: calm.list(table.rows),
        columns: calm.list(table.columns).map(calm.paperColumn),
      }),
      calm.list(table.notes).map((note) => calm.make('p', { class: 'hint' }, note)),
    ),
  );

calm.paperParts = (id, data) => [
  data.missing &&
    calm.make(
      'p',
      { class: 'section' },
      calm.markNode({ kind: 'open', text: '… left out' }),
      ` ${data.missing}`,
    ),
  calm
    .list(data.sections)
    .map((section, at) =>
      calm.section(
        `${id}-part${at + 1}`,
        calm.name(section.title),
        null,
        () =>
          calm.list(section.tables).length > 0 &&
          calm.make(
            'div',
            { class: 'stack' },
            calm.list(section.tables).map(calm.paperTable),
          ),
      ),
    ),
];
