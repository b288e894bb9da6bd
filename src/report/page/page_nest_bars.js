// Bars of parts: a line for each level, divided by tensors, each with a pattern of its
// own; and the array of multipliers as a picture.
'use strict';

calm.PARTS = 6;
calm.partClass = (at) => `part-${at % calm.PARTS}`;

// rows: { name, note, parts: [{ name, value }] }; `show` puts a value in words.
calm.bars = ({ rows, show, label, names }) => {
  const sum = (row) => row.parts.reduce((all, part) => all + (part.value || 0), 0);
  const most = calm.most(rows.map(sum));
  const whole = rows.reduce((all, row) => all + sum(row), 0);
  if (!(most > 0)) return null;
  return calm.make(
    'div',
    { class: 'bars', role: 'group', 'aria-label': label },
    calm.legend(names.map((name, at) => ({ name, swatch: calm.partClass(at) }))),
    rows.map((row) => calm.barRow(row, { show, names, most, whole, all: sum(row) })),
  );
};

calm.barRow = (row, { show, names, most, whole, all }) => {
  const words = [
    row.name,
    ['all', `${show(all)}, ${calm.percent(all / whole)}`],
    ...row.parts
      .filter((part) => part.value > 0)
      .map((part) => [
        part.name,
        `${show(part.value)}, ${calm.percent(part.value / whole)}`,
      ]),
  ];
  const tell = (event) => {
    const middle = calm.centre(event);
    calm.tip.show(event.clientX ?? middle.x, event.clientY ?? middle.y, words);
  };
  const hide = () => calm.tip.hide();
  return calm.make(
    'div',
    {
      class: 'bars-row',
      tabindex: 0,
      pointermove: tell,
      focus: tell,
      pointerleave: hide,
      blur: hide,
    },
    calm.make(
      'span',
      { class: 'bars-name' },
      row.name,
      row.note && calm.make('span', { class: 'bars-note' }, ` ${row.note}`),
    ),
    calm.make(
      'span',
      { class: 'bars-room' },
      row.parts.map(
        (part) =>
          part.value > 0 &&
          calm.make('span', {
            class: `bars-part ${calm.partClass(names.indexOf(part.name))}`,
            style: `width:${((100 * part.value) / most).toFixed(2)}%`,
          }),
      ),
    ),
    calm.make(
      'span',
      { class: 'bars-value' },
      show(all),
      calm.make('span', { class: 'bars-share' }, calm.percent(all / whole)),
    ),
  );
};

// How many of a mesh's instances are in use: a small picture of columns and rows.
calm.mesh = (fanout) => {
  const [x, y] = [calm.number(fanout.x) || 1, calm.number(fanout.y) || 1];
  const [usedX, usedY] = [fanout.used_x || 0, fanout.used_y || 0];
  const cell = Math.max(2, Math.min(14, Math.floor(160 / Math.max(x, y))));
  const text = `${usedX} × ${usedY} of ${x} × ${y} below ${calm.name(fanout.level)}`;
  const cells = [];
  for (let row = 0; row < Math.min(y, 64); row++) {
    for (let column = 0; column < Math.min(x, 64); column++) {
      cells.push(
        calm.draw('rect', {
          x: column * cell + 0.5,
          y: row * cell + 0.5,
          width: cell - 1,
          height: cell - 1,
          class: column < usedX && row < usedY ? 'cell-used' : 'cell-idle',
        }),
      );
    }
  }
  return calm.make(
    'figure',
    { class: 'mesh' },
    calm.draw(
      'svg',
      {
        width: Math.min(x, 64) * cell,
        height: Math.min(y, 64) * cell,
        role: 'img',
        'aria-label': text,
      },
      cells,
    ),
    calm.make(
      'figcaption',
      {},
      text,
      calm.make('br'),
      calm.percent((usedX * usedY) / (x * y)),
      ' in use',
    ),
  );
};
