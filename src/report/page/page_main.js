// The page: a head, the documents one after the other, what they were made with.
'use strict';

calm.KINDS = {
  plan: {
    word: 'Memory plan',
    line: (data) => calm.planLine(data),
    parts: (id, data, drawings) => calm.planParts(id, data, drawings),
  },
  map: {
    word: 'Loop mapping',
    line: (data) => calm.mapLine(data),
    parts: (id, data) => calm.mapParts(id, data),
  },
  'eval-difference': {
    word: 'Two loop nests compared',
    line: (data) => calm.differenceLine(data),
    parts: (id, data) => calm.differenceParts(id, data),
  },
  inspect: {
    word: 'Memory of a network as it is',
    line: (data) => calm.planLine(data),
    parts: (id, data, drawings) => calm.inspectParts(id, data, drawings),
  },
  check: {
    word: 'Check of a plan',
    line: (data) => calm.planLine(data),
    parts: (id, data) => calm.checkParts(id, data),
  },
  pack: {
    word: 'Packing of buffers',
    line: (data) => calm.baseName(data.file),
    parts: (id, data) => calm.packParts(id, data),
  },
  sweep: {
    word: 'Sweep of designs',
    line: (data) => calm.sweepLine(data),
    parts: (id, data) => calm.sweepParts(id, data),
  },
  bench: {
    word: 'Figures of a paper',
    line: (data) => calm.name(data.paper),
    parts: (id, data) => calm.paperParts(id, data),
  },
  eval: {
    word: 'Cost of a loop nest',
    line: (data) => calm.evalLine(data),
    parts: (id, data) => calm.evalParts(id, data),
  },
};

calm.kindOf = (data) => {
  const found = /^calm\/([a-z-]+)\/\d+$/.exec((data && data.schema) || '');
  return found ? found[1] : null;
};

calm.documentTitle = (entry) => {
  const data = entry.data || {};
  return calm.name(data.model || data.name || data.title || data.layer || entry.name);
};

// One document: a heading, its parts, and how it came about.
calm.documentNode = (entry, at, documents) => {
  const only = documents.length === 1;
  const data = entry.data || {};
  const id = `d${at + 1}`;
  const kind = calm.KINDS[calm.kindOf(data)];
  const line = kind ? calm.guard(() => kind.line(data)) : null;
  return calm.make(
    'article',
    { class: 'document', id, 'aria-labelledby': `${id}-name` },
    calm.make(
      'header',
      {},
      calm.make(
        'h2',
        { id: `${id}-name` },
        only && kind ? kind.word : calm.shownName(documents, entry),
      ),
      calm.make(
        'p',
        {},
        [!only && kind && kind.word, line].filter(Boolean).join(' · '),
      ),
    ),
    kind
      ? calm.guard(() => kind.parts(id, data, calm.list(entry.drawings)))
      : calm.make(
          'p',
          { class: 'note' },
          'This page knows nothing of this kind of document.',
        ),
    calm.section(`${id}-source`, 'How this came about', null, () => calm.source(entry)),
  );
};

calm.source = (entry) => {
  const data = entry.data || {};
  const made = data.provenance || {};
  return calm.make(
    'div',
    {},
    calm.facts([
      ['File', entry.name],
      ['Kind', data.schema],
      ['Made by', made.calm && `calm ${made.calm}`],
      ...Object.entries(made.options || {}).map(([name, value]) => [
        `--${name}`,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ]),
    calm.make(
      'p',
      {},
      calm.make(
        'button',
        { type: 'button', click: () => calm.save(entry) },
        `Download ${calm.jsonName(entry)}`,
      ),
    ),
    data.columns &&
      calm.make(
        'details',
        {},
        calm.make('summary', {}, 'All options of the memory model'),
        calm.facts(
          Object.entries(data.columns || {}).map(([key, value]) => [
            key,
            Array.isArray(value) ? value.join(', ') || 'none' : String(value),
          ]),
        ),
      ),
  );
};

calm.jsonName = (entry) => {
  const name = calm.baseName(entry.name);
  return /\.json$/.test(name) ? name : `${name}.json`;
};

calm.save = (entry) => {
  const text = `${JSON.stringify(entry.data, null, 2)}\n`;
  const place = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = calm.make('a', { href: place, download: calm.jsonName(entry) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(place), 1000);
};

// The title as given; one that is the path of a document goes without its folders.
calm.pageTitle = (page) => {
  const paths = calm.list(page.documents).map((entry) => entry.name);
  return paths.includes(page.title) ? calm.baseName(page.title) : page.title || 'calm';
};

calm.head = (page) => {
  const count = calm.list(page.documents).length;
  return [
    calm.make(
      'div',
      { class: 'head' },
      calm.make(
        'div',
        {},
        calm.make('h1', {}, calm.pageTitle(page)),
        calm.make(
          'p',
          { class: 'subtitle' },
          `calm ${page.version || ''} · ${calm.plural(count, 'document')}`,
        ),
      ),
      calm.themeButton(),
    ),
  ];
};

calm.isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen
    ? chosen === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
};

calm.themeButton = () => {
  const button = calm.make('button', {
    type: 'button',
    class: 'theme',
    'aria-label': 'Change between light and dark',
    click: () => {
      document.documentElement.dataset.theme = calm.isDark() ? 'light' : 'dark';
      say();
      calm.redraw();
    },
  });
  const say = () => {
    button.textContent = calm.isDark() ? '☀ Light' : '☾ Dark';
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    say();
    calm.redraw();
  });
  say();
  return button;
};

// Paper is light, and nothing on it can be opened.
calm.printLight = () => {
  const root = document.documentElement;
  let chosen;
  addEventListener('beforeprint', () => {
    chosen = root.dataset.theme;
    root.dataset.theme = 'light';
    document.querySelectorAll('details').forEach((one) => {
      one.open = true;
    });
    calm.redraw();
  });
  addEventListener('afterprint', () => {
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
    calm.redraw();
  });
};

// Links to the parts; of several documents to each of them.
calm.navigation = (main, count) => {
  const link = (id, text, kind) =>
    calm.make('li', {}, calm.make('a', { href: `#${id}`, class: kind }, text));
  const links = [];
  main.querySelectorAll('.document, .section').forEach((part) => {
    const document_ = part.classList.contains('document');
    if (count > 1 && document_)
      links.push(link(part.id, part.querySelector('h2').textContent, 'doc'));
    else if (!document_ && (count === 1 || !part.closest('.document'))) {
      links.push(link(part.id, part.querySelector('h3').textContent));
    }
  });
  return calm.make(
    'nav',
    { class: 'nav', 'aria-label': 'Parts of this page' },
    calm.make('ul', {}, links),
  );
};

calm.start = () => {
  const page = JSON.parse(document.getElementById('calm-data').textContent);
  const documents = calm.list(page.documents);
  const main = document.getElementById('page');
  calm.printLight();
  document.title = calm.pageTitle(page);
  main.classList.add('page-body');
  main.tabIndex = -1;
  calm.append(main, [
    calm.guard(() => calm.comparison(documents)),
    documents.map((entry, at) => calm.documentNode(entry, at, documents)),
  ]);
  main.before(
    calm.make('a', { href: '#page', class: 'skip' }, 'Skip to the contents'),
    calm.make('header', {}, calm.head(page)),
    calm.navigation(main, documents.length),
  );
  main.after(
    calm.make(
      'footer',
      { class: 'foot' },
      `Made by calm ${page.version || ''}. This file needs no network and sends nothing.`,
    ),
  );
};

calm.start();
