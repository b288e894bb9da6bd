// What all parts of the page share: elements, numbers in words, the little box
// that says what is under the pointer.
//
// Names of tensors, operators and files come from anywhere.  They reach the page
// as text nodes and attribute values only, never as markup.
'use strict';

const calm = {};

calm.SVG = 'http://www.w3.org/2000/svg';

// An attribute that is a function listens to the event of its name; one that is
// null or false is left out; `true` is an attribute without a value.
calm.decorate = (node, attributes) => {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  return node;
};

calm.append = (node, children) => {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
};

calm.make = (tag, attributes, ...children) =>
  calm.append(calm.decorate(document.createElement(tag), attributes), children);

calm.draw = (tag, attributes, ...children) =>
  calm.append(
    calm.decorate(document.createElementNS(calm.SVG, tag), attributes),
    children,
  );

// Of fields that may be missing: lists that are none are empty.
calm.list = (value) => (Array.isArray(value) ? value : []);
calm.known = (value) => value !== null && value !== undefined;
calm.name = (value) => (calm.known(value) ? String(value) : '?');
calm.baseName = (path) => calm.name(path).replace(/^.*[/\\]/, '');
calm.number = (value) =>
  typeof value === 'number' && isFinite(value)
    ? value
    : typeof value === 'string' && /^\d+$/.test(value)
      ? Number(value)
      : null;

// Numbers in words.  The language is fixed, so that a page reads alike everywhere.
calm.counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
calm.figures = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

calm.count = (value) =>
  calm.number(value) === null ? '–' : calm.counts.format(calm.number(value));

calm.scaled = (value, base, units) => {
  let unit = 0;
  let rest = Math.abs(value);
  while (rest >= base && unit + 1 < units.length) {
    rest /= base;
    unit++;
  }
  const text =
    unit === 0
      ? calm.counts.format(rest)
      : rest >= 100 && rest % 1 === 0
        ? String(rest)
        : rest.toFixed(rest >= 100 ? 1 : rest % 1 === 0 ? 0 : rest >= 10 ? 1 : 2);
  return (value < 0 ? '−' : '') + text + ' ' + units[unit];
};

// 200,704 -> "196 KiB"; with thousands for what is not memory: "451.2 µJ".
calm.kib = (bytes) =>
  calm.number(bytes) === null
    ? '–'
    : calm.scaled(calm.number(bytes), 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
calm.bytes = (bytes) => (calm.number(bytes) === null ? '–' : `${calm.count(bytes)} B`);
calm.both = (bytes) =>
  calm.number(bytes) === null
    ? '–'
    : calm.number(bytes) < 1024
      ? calm.bytes(bytes)
      : `${calm.kib(bytes)} (${calm.bytes(bytes)})`;
calm.energy = (pj) =>
  calm.number(pj) === null
    ? '–'
    : calm.scaled(calm.number(pj), 1000, ['pJ', 'nJ', 'µJ', 'mJ', 'J']);
calm.short = (value) => {
  const number = calm.number(value);
  if (number === null) return '–';
  const size = Math.abs(number);
  if (size > 0 && (size >= 1e21 || size < 1e-3)) return number.toExponential(3);
  return size < 10000
    ? calm.figures.format(number)
    : calm.scaled(number, 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E']);
};
calm.percent = (share) => {
  const number = calm.number(share);
  if (number === null) return '–';
  const digits = number === 0 || number === 1 ? 0 : Math.abs(number) < 0.1 ? 2 : 1;
  return `${(100 * number).toFixed(digits)} %`;
};
calm.plural = (count, word) => `${calm.count(count)} ${word}${count === 1 ? '' : 's'}`;

// Ticks of an axis from 0 to `most`: at most `wanted`, at round places, which are
// powers of two for bytes.
calm.ticks = (most, wanted, binary) => {
  if (!(most > 0)) return [0];
  const rough = most / Math.max(1, wanted);
  const power = binary
    ? 2 ** Math.floor(Math.log2(rough))
    : 10 ** Math.floor(Math.log10(rough));
  const steps = binary ? [1, 2] : [1, 2, 5, 10];
  const step = Math.max(
    1,
    steps.map((s) => s * power).find((s) => s >= rough),
  );
  const ticks = [];
  for (let tick = 0; tick <= most; tick += step) ticks.push(tick);
  return ticks;
};

// The colour that the style sheet has for a name now, for what is drawn on canvas.
calm.colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// One box for all charts.  It is a status, so that a reader of screens says it.
calm.tip = {
  node: null,
  show(x, y, lines) {
    if (!this.node) {
      this.node = calm.make('div', { class: 'tip', role: 'status', id: 'tip' });
      document.body.append(this.node);
    }
    this.node.replaceChildren(
      ...lines
        .filter(Boolean)
        .map((line) =>
          Array.isArray(line)
            ? calm.make(
                'div',
                { class: 'tip-row' },
                calm.make('span', { class: 'tip-key' }, line[0]),
                calm.make('span', { class: 'tip-value' }, line[1]),
              )
            : calm.make('div', { class: 'tip-head' }, line),
        ),
    );
    this.node.classList.add('shown');
    this.place(x, y);
  },
  // Right below the pointer, or left of it or above it where there is no room.
  place(x, y) {
    const { width, height } = this.node.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
    const top = y + 16 + height > innerHeight ? y - 16 - height : y + 16;
    this.node.style.left = `${Math.max(4, left)}px`;
    this.node.style.top = `${Math.max(4, top)}px`;
  },
  hide() {
    if (this.node) this.node.classList.remove('shown');
  },
};

// Charts are drawn anew when their width or the colours change.
calm.redraws = new Set();
calm.redraw = () => calm.redraws.forEach((again) => again());
calm.fit = (node, again) => {
  let width = 0;
  const look = () => {
    const now = Math.floor(node.clientWidth);
    if (now > 0 && now !== width) {
      width = now;
      again(width);
    }
  };
  new ResizeObserver(() => requestAnimationFrame(look)).observe(node);
  const renew = () => {
    if (!node.isConnected) calm.redraws.delete(renew);
    else if (width > 0) again(width);
  };
  calm.redraws.add(renew);
};

// Text that is cut to `room` pixels, at about `size` pixels a letter.
calm.cut = (text, room, size) => {
  const letters = Math.floor(room / size);
  const all = [...text];
  if (all.length <= letters) return text;
  return letters < 3 ? '' : `${all.slice(0, letters - 1).join('')}…`;
};

// Searching and sorting treat names alike everywhere.
calm.compare = (a, b) => {
  if (a === b) return 0;
  if (!calm.known(a)) return 1;
  if (!calm.known(b)) return -1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return calm.collator.compare(String(a), String(b));
};
calm.collator = new Intl.Collator('en', { numeric: true });
