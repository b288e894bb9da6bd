// Tables that sort, search, and hold ten thousand rows: only the rows in sight are
// in the document, between two empty ones that keep the room of the others.
//
// A column is { title, value(row), show(value, row), kind }: `value` is what is
// sorted and searched, `show` what is seen (text or an element).  `kind` is `words`
// (to the left) or `figure` (to the right, largest first when sorted).
'use strict';

calm.ROW_HEIGHT = 31;
calm.PRINTED_ROWS = 200;

calm.words = (title, value, more) => ({ title, value, kind: 'words', ...more });
calm.figure = (title, value, show, more) => ({
  title,
  value,
  show: show || calm.count,
  kind: 'figure',
  ...more,
});
calm.bytesColumn = (title, value) => calm.figure(title, value, calm.count);

// A figure with a bar below it, as long as its share of the largest in the column.
calm.barColumn = (title, value, show, most) =>
  calm.figure(
    title,
    value,
    (figure) =>
      calm.make(
        'span',
        { class: 'bar-cell' },
        calm.make('span', { class: 'bar-text' }, show(figure)),
        calm.make(
          'span',
          { class: 'bar-room' },
          calm.make('span', {
            class: 'bar',
            style: `width:${most > 0 && figure > 0 ? ((100 * figure) / most).toFixed(1) : 0}%`,
          }),
        ),
      ),
    { room: 9 },
  );

calm.table = (options) => {
  const {
    columns,
    rows,
    label,
    search = rows.length > 8,
    pick,
    picked = null,
    height = 420,
  } = options;
  const state = {
    sorted: null,
    down: false,
    words: '',
    shown: rows,
    picked,
    printing: false,
  };
  const body = calm.make('tbody');
  const found = calm.make('span', { class: 'found', role: 'status' });
  const heads = columns.map((column, at) => calm.headCell(column, () => sort(at)));
  const widths = calm.widths(columns, rows);
  const whole = widths.reduce((a, b) => a + b, 0);
  const table = calm.make(
    'table',
    {
      'aria-label': label,
      'aria-rowcount': rows.length + 1,
      style: `width:${whole.toFixed(1)}ch`,
    },
    calm.make(
      'colgroup',
      {},
      widths.map((width) => calm.make('col', { style: `width:${width.toFixed(1)}ch` })),
      calm.make('col'),
    ),
    calm.make(
      'thead',
      {},
      calm.make(
        'tr',
        { 'aria-rowindex': 1 },
        heads,
        calm.make('td', { class: 'filler' }),
      ),
    ),
    body,
  );
  const room = calm.make(
    'div',
    {
      class: 'rows',
      tabindex: 0,
      role: 'region',
      'aria-label': label,
      style: `max-height:${height}px`,
    },
    table,
  );

  const paint = () => {
    const [first, end] = calm.inSight(room, state);
    const focused = calm.focusedRow(body);
    const cells = state.shown
      .slice(first, end)
      .map((row, at) =>
        calm.row(columns, row, first + at, state.picked === row, pick && choose),
      );
    body.replaceChildren(
      calm.emptyRow(columns.length + 1, first * calm.ROW_HEIGHT),
      ...cells,
      calm.emptyRow(
        columns.length + 1,
        (state.shown.length - end) * calm.ROW_HEIGHT,
        state.printing && end < state.shown.length
          ? `${calm.count(state.shown.length - end)} more rows are not printed`
          : '',
      ),
    );
    calm.focusRow(body, focused);
  };
  const renew = () => {
    state.shown = calm.arrange(columns, rows, state);
    found.textContent =
      state.words === ''
        ? calm.plural(rows.length, 'row')
        : `${calm.count(state.shown.length)} of ${calm.plural(rows.length, 'row')}`;
    room.scrollTop = 0;
    paint();
  };
  const sort = (at) => {
    const falling = columns[at].kind === 'figure';
    state.down = state.sorted === at ? !state.down : falling;
    state.sorted = at;
    heads.forEach((head, index) =>
      head.setAttribute(
        'aria-sort',
        index !== at ? 'none' : state.down ? 'descending' : 'ascending',
      ),
    );
    renew();
  };
  const choose = (row) => {
    state.picked = row;
    paint();
    pick(row);
  };
  room.addEventListener('scroll', () => requestAnimationFrame(paint), {
    passive: true,
  });
  addEventListener('beforeprint', () => {
    state.printing = true;
    paint();
  });
  addEventListener('afterprint', () => {
    state.printing = false;
    paint();
  });
  const tools =
    search &&
    calm.searchTools(label, found, (words) => {
      state.words = words;
      renew();
    });
  renew();
  return calm.make('div', { class: 'table' }, tools, room);
};

// The keyboard stays in the row where it was when the rows are made anew.
calm.focusedRow = (body) =>
  body.contains(document.activeElement)
    ? document.activeElement.closest('tr').getAttribute('aria-rowindex')
    : null;
calm.focusRow = (body, at) => {
  const button = at && body.querySelector(`tr[aria-rowindex='${at}'] button`);
  if (button) button.focus({ preventScroll: true });
};

calm.headCell = (column, sort) =>
  calm.make(
    'th',
    { scope: 'col', class: column.kind, 'aria-sort': 'none' },
    calm.make(
      'button',
      { type: 'button', click: sort, title: column.help || null },
      column.title,
    ),
  );

calm.searchTools = (label, found, seek) => {
  const input = calm.make('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': `Search in: ${label}`,
    autocomplete: 'off',
    spellcheck: 'false',
    input: () => seek(input.value.trim().toLowerCase()),
  });
  return calm.make('div', { class: 'toolbar' }, input, found);
};

// Rows that hold every word, in the order that was asked for.  Equal rows keep theirs.
calm.arrange = (columns, rows, state) => {
  const words = state.words.split(/\s+/).filter(Boolean);
  const has = (row) => {
    const text = columns.map((column) => calm.searched(column.value(row))).join('\n');
    return words.every((word) => text.includes(word));
  };
  const kept = words.length === 0 ? rows.slice() : rows.filter(has);
  if (state.sorted === null) return kept;
  const value = columns[state.sorted].value;
  const sign = state.down ? -1 : 1;
  const order = (a, b) => {
    const [x, y] = [value(a), value(b)];
    if (!calm.known(x) || !calm.known(y)) return calm.compare(x, y);
    return sign * calm.compare(x, y);
  };
  return kept.sort(order);
};

calm.searched = (value) => (!calm.known(value) ? '' : String(value).toLowerCase());

// The first row to be drawn and the one after the last, with some in reserve.
calm.inSight = (room, state) => {
  if (state.printing) return [0, Math.min(state.shown.length, calm.PRINTED_ROWS)];
  const first = Math.max(0, Math.floor(room.scrollTop / calm.ROW_HEIGHT) - 12);
  const height = room.clientHeight || 600;
  return [
    first,
    Math.min(state.shown.length, first + Math.ceil(height / calm.ROW_HEIGHT) + 24),
  ];
};

calm.emptyRow = (columns, height, text) => {
  if (height <= 0) return '';
  return calm.make(
    'tr',
    { 'aria-hidden': 'true', class: 'empty' },
    calm.make(
      'td',
      { colspan: columns, style: `height:${text ? 'auto' : `${height}px`}` },
      text || '',
    ),
  );
};

calm.row = (columns, row, at, picked, choose) => {
  const node = calm.make(
    'tr',
    {
      'aria-rowindex': at + 2,
      'aria-selected': choose ? String(picked) : null,
      class: choose ? 'choice' : null,
      click: choose ? () => choose(row) : null,
    },
    columns.map((column, index) =>
      calm.cell(column, row, choose && index === 0 ? () => choose(row) : null),
    ),
    calm.make('td', { class: 'filler' }),
  );
  return node;
};

// In tables of which a row can be chosen the first cell is a button, for the keyboard.
calm.cell = (column, row, choose) => {
  const value = column.value(row);
  const shown = column.show
    ? column.show(value, row)
    : calm.known(value)
      ? String(value)
      : '–';
  const text = typeof shown === 'string' ? shown : null;
  return calm.make(
    'td',
    { class: column.kind, title: text && text.length > 18 ? text : null },
    choose
      ? calm.make(
          'button',
          {
            type: 'button',
            class: 'link',
            click: (event) => {
              event.stopPropagation();
              choose();
            },
          },
          shown,
        )
      : shown,
  );
};

// Widths in figures, of the longest of some rows; the layout is fixed, so that
// columns do not jump while one scrolls.  Letters are narrower than figures on
// average, and a filler behind the last column takes what is left of the room.
calm.widths = (columns, rows) => {
  const step = Math.max(1, Math.floor(rows.length / 400));
  return columns.map((column) => {
    let most = column.title.length * 0.96 + 1.5;
    for (let at = 0; at < rows.length; at += step) {
      const value = column.value(rows[at]);
      const shown = column.show ? column.show(value, rows[at]) : value;
      const text =
        shown instanceof Node
          ? shown.textContent
          : calm.known(shown)
            ? String(shown)
            : '';
      most = Math.max(
        most,
        text.length * (column.kind === 'figure' ? 1 : 0.93) +
          (shown instanceof Node ? 1 : 0) +
          (column.room || 0),
      );
    }
    return Math.min(column.most || 40, most) + 3;
  });
};
