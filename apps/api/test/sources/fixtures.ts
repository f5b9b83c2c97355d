export interface Fixture {
  /** Null: not said. */
  type: string | null;
  body: string | Buffer;
  select?: string;
  title?: string;
  /** The whole text. */
  text?: string;
  has?: string[];
  lacks?: string[];
  problem?: RegExp;
  /** Of the first entries. */
  ids?: string[];
}

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json';
const RSS = 'application/rss+xml; charset=utf-8';
const ATOM = 'application/atom+xml';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

const PARAGRAPHS = Array.from(
  { length: 8 },
  (_, at) =>
    `<p>Paragraph ${at + 1}: the council said on Tuesday, after a long debate, that the bridge will be closed for eleven months, and that the ferry, which carries nine hundred people a day, will run every ten minutes.</p>`,
).join('');
const CHROME = `<header><a href="/">The Courier</a></header><nav><ul><li><a href="/a">Politics</a></li><li><a href="/b">Sport</a></li></ul></nav>`;
const news = (head: string, inside: string, after = '') =>
  `<!doctype html><html lang="en"><head>${head}<script>track()</script><style>p{}</style></head><body>${CHROME}${inside}${after}<footer>Imprint and cookies</footer></body></html>`;

const item = (id: string, day: string, text = 'Fixes.') =>
  `<item><title>Release ${id}</title><link>/releases/${id}</link><guid isPermaLink="false">${id}</guid><pubDate>${day}</pubDate><description>${text}</description></item>`;
const rss = (items: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Carillon &amp; friends</title><link>https://a.example</link><description>d</description>${items}</channel></rss>`;
const entry = (id: string, day: string, more = '') =>
  `<entry><id>${id}</id><title type="html">&lt;b&gt;${id}&lt;/b&gt; is out</title><updated>${day}</updated><link rel="self" href="https://a.example/self/${id}"/><link rel="alternate" href="https://a.example/${id}"/>${more}</entry>`;
const atom = (entries: string) =>
  `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Releases</title><id>urn:a</id><updated>2026-11-20T10:00:00Z</updated>${entries}</feed>`;

const PRODUCT = `<!doctype html><title>Brass bell – Bell Shop</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Brass bell","offers":{"price":"34.90"}}</script><meta property="og:type" content="product"><nav>Bells Drums</nav><main><h1>Brass bell</h1><div class="buy"><span class="price">€&nbsp;34.90</span><button>Add to cart</button></div><div class="description">${PARAGRAPHS}</div></main>`;

const API = JSON.stringify({
  items: [
    { name: 'Bell', price: 34.9, 'a/b': { 'm~n': 'odd' } },
    { name: 'Drum', price: null },
  ],
  total: 2,
  text: 'line one\nline two',
});

/** Pages as they are found in the world, and what a person would read of them. */
export const FIXTURES: Record<string, Fixture> = {
  news: {
    type: HTML,
    body: news(
      '<title>Bridge closed – The Courier</title>',
      `<main><article><h1>Bridge closed</h1>${PARAGRAPHS}</article></main>`,
      `<aside>${'<div><a href="/x">Other story</a></div>'.repeat(30)}</aside>`,
    ),
    title: 'Bridge closed – The Courier',
    has: ['Paragraph 1:', 'Paragraph 8:', 'eleven months'],
    lacks: ['track()', 'Imprint', 'Sport', 'Other story'],
  },
  'news in divs': {
    type: HTML,
    body: news(
      '<title>Old page</title>',
      `<div id="page"><div class="sidebar">${'<a href="/y">Advert</a> '.repeat(20)}</div><div class="content">${PARAGRAPHS}</div></div>`,
    ),
    has: ['Paragraph 4:'],
    lacks: ['Advert', 'Imprint'],
  },
  'front page': {
    type: HTML,
    body: news(
      '<title>The Courier</title>',
      `<main>${Array.from({ length: 20 }, (_, at) => `<section><h2><a href="/s${at}">Story ${at}</a></h2><p>In short.</p></section>`).join('')}</main>`,
    ),
    has: ['Story 0', 'Story 19', 'In short.'],
    lacks: ['Politics', 'Imprint'],
  },
  'news without a body': {
    type: HTML,
    body: `<!doctype html><title>Bare</title><script>track()</script><nav>Menu</nav><article>${PARAGRAPHS}</article>`,
    title: 'Bare',
    has: ['Paragraph 1:', 'Paragraph 8:'],
    lacks: ['track()', 'Menu'],
  },
  blog: {
    type: 'application/xhtml+xml',
    body: `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Blog</title></head><body><article>${PARAGRAPHS}</article></body></html>`,
    title: 'Blog',
    has: ['Paragraph 2:'],
  },
  shop: { type: HTML, body: PRODUCT, has: ['€ 34.90', 'Brass bell', 'Paragraph 8:'], lacks: ['schema.org', 'Drums'] },
  'shop price': { type: HTML, body: PRODUCT, select: '.buy .price', text: '€ 34.90', title: 'Brass bell – Bell Shop' },
  'shop meta': { type: HTML, body: PRODUCT, select: 'meta[property="og:type"]', text: 'product' },
  'shop list': {
    type: HTML,
    body: `<ul>${['Bell 34', 'Drum 12', 'Gong 99'].map((text) => `<li class=p><b>${text}</b> €</li>`).join('')}</ul>`,
    select: 'li.p:nth-child(-n+2)',
    text: '- Bell 34 €\n- Drum 12 €',
  },
  'table of a browser': {
    type: HTML,
    body: '<table><tr><th>Day<th>High<tr><td>Mon<td>12°<tr><td>Tue<td>14°</table>',
    select: 'table > tbody > tr:nth-child(3) > td:nth-child(2)',
    text: '14°',
  },
  table: {
    type: HTML,
    body: '<title>Weather</title><table><tr><th>Day<th>High<tr><td>Mon<td>12°</table>',
    text: 'Day | High\nMon | 12°',
  },
  'status page': {
    type: HTML,
    body: '<title>Status</title><h1>All systems operational</h1><div hidden>secret note</div><template>later</template><noscript>Without scripts</noscript><p>API<br>Web</p>',
    has: ['All systems operational', 'API\nWeb', 'Without scripts'],
    lacks: ['secret note', 'later'],
  },
  code: { type: HTML, body: '<pre>a\n  b</pre>', has: ['a\nb'] },
  selection: { type: HTML, body: '<p id=a>found</p>', select: '#b', problem: /nothing at its selection/ },
  'empty selection': { type: HTML, body: '<p id=a> </p>', select: '#a', problem: /nothing at its selection/ },
  'no html': { type: JSON_TYPE, body: '{}', select: '#a', problem: /is not HTML/ },
  unclosed: { type: HTML, body: '<p>One<p>Two<div>Three<table><td>Four', has: ['One', 'Two', 'Three', 'Four'] },

  'latin-1 by header': {
    type: 'text/html; charset=ISO-8859-1',
    body: latin1('<p>Preço: 12 £, não'),
    has: ['Preço: 12 £'],
  },
  'latin-1 by meta': { type: 'text/html', body: latin1('<meta charset="iso-8859-1"><p>Fußgänger'), has: ['Fußgänger'] },
  'windows-1252 unsaid': {
    type: 'text/html',
    body: Buffer.from([0x3c, 0x70, 0x3e, 0x93, 0x41, 0x94, 0x80]),
    text: '“A”€',
  },
  'utf-8 unsaid': { type: 'text/html', body: '<p>日本語のページ', text: '日本語のページ' },
  'utf-16 by mark': { type: 'text/html', body: utf16('<p>Größe</p>'), text: 'Größe' },
  'shift_jis by meta': {
    type: 'text/html',
    body: Buffer.concat([
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>'),
      Buffer.from([0x93, 0xfa, 0x96, 0x7b]),
    ]),
    text: '日本',
  },
  'gbk by header': { type: 'text/plain; charset=GBK', body: Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), text: '你好' },
  'koi8-r by xml': {
    type: 'application/xml',
    body: Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="KOI8-R"?><a>'),
      Buffer.from([0xf0, 0xf2]),
      Buffer.from('</a>'),
    ]),
    has: ['ПР'],
  },
  'mark over header': { type: 'text/html; charset=iso-8859-1', body: '\ufeff<p>naïve', text: 'naïve' },
  'unknown charset': { type: 'text/html; charset=nonsense', body: '<p>naïve', text: 'naïve' },

  atom: {
    type: ATOM,
    body: atom(
      entry('v1', '2026-11-18T10:00:00Z') +
        entry(
          'v3',
          '2026-11-20T10:00:00Z',
          '<content type="html">&lt;p&gt;Now with &amp;amp; bells.&lt;/p&gt;</content>',
        ) +
        entry('v2', '2026-11-19T10:00:00Z'),
    ),
    title: 'Releases',
    ids: ['v3', 'v2', 'v1'],
    has: ['v3 is out\n2026-11-20T10:00:00.000Z\nhttps://a.example/v3\nNow with & bells.'],
    lacks: ['self', '<b>'],
  },
  rss: {
    type: RSS,
    body: rss(
      item('1', 'Wed, 18 Nov 2026 10:00:00 GMT') +
        item('2', 'Thu, 19 Nov 2026 10:00:00 GMT', '<![CDATA[<ul><li>Faster</li></ul>]]>'),
    ),
    title: 'Carillon & friends',
    ids: ['2', '1'],
    has: ['- Faster', '/releases/2'],
  },
  'rss as html': { type: 'text/html', body: rss(item('9', 'Thu, 19 Nov 2026 10:00:00 GMT')), ids: ['9'] },
  'rss as xml': { type: 'text/xml', body: rss(item('9', 'Thu, 19 Nov 2026 10:00:00 GMT')), ids: ['9'] },
  'rss without dates': {
    type: RSS,
    body: rss('<item><title>A</title><link>https://a.example/a</link></item><item><title>B</title></item>'),
    has: ['A\nhttps://a.example/a', 'B'],
    ids: ['https://a.example/a'],
  },
  'rdf feed': {
    type: 'application/rdf+xml',
    body: '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="https://a.example"><title>Old feed</title><link>https://a.example</link><description>d</description></channel><item rdf:about="https://a.example/1"><title>First</title><link>https://a.example/1</link></item></rdf:RDF>',
    title: 'Old feed',
    has: ['First'],
  },
  'feed with a selector': {
    type: RSS,
    body: rss(item('1', 'Thu, 19 Nov 2026 10:00:00 GMT')),
    select: 'item',
    problem: /is not HTML/,
  },
  'long feed': {
    type: RSS,
    body: rss(
      Array.from({ length: 60 }, (_, at) => item(`n${at}`, new Date(Date.UTC(2026, 0, at + 1)).toUTCString())).join(''),
    ),
    ids: ['n59', 'n58'],
    lacks: ['Release n39'],
  },
  'broken feed': { type: RSS, body: '<rss><channel><item><title>cut', problem: /malformed/ },
  'xml of another kind': {
    type: 'application/xml',
    body: '<urlset><url><loc>https://a.example/</loc></url></urlset>',
    has: ['<loc>https://a.example/</loc>'],
  },

  api: { type: JSON_TYPE, body: API, text: API },
  'api value': { type: JSON_TYPE, body: API, select: '/items/0/price', text: '34.9' },
  'api text': { type: 'application/vnd.shop+json', body: API, select: '/text', text: 'line one\nline two' },
  'api object': { type: JSON_TYPE, body: API, select: '/items/1', text: '{"name":"Drum","price":null}' },
  'api escapes': { type: JSON_TYPE, body: API, select: '/items/0/a~1b/m~0n', text: 'odd' },
  'api missing': { type: JSON_TYPE, body: API, select: '/items/7/price', problem: /nothing at its selection/ },
  'api prototype': {
    type: JSON_TYPE,
    body: API,
    select: '/__proto__/constructor',
    problem: /nothing at its selection/,
  },
  'api index': { type: JSON_TYPE, body: API, select: '/items/01', problem: /nothing at its selection/ },
  'api length': { type: JSON_TYPE, body: API, select: '/items/length', problem: /nothing at its selection/ },
  'api broken': { type: JSON_TYPE, body: '{"a":', select: '/a', problem: /malformed/ },
  'pointer into html': { type: HTML, body: '<p>x', select: '/a', problem: /is not JSON/ },
  'json without a type': { type: null, body: ' {"a": 1}', select: '/a', text: '1' },
  csv: { type: 'text/csv', body: 'day,high\nMon,12\n', text: 'day,high\nMon,12' },
  markdown: { type: 'text/markdown', body: '# Title\n', text: '# Title' },
  yaml: { type: 'application/yaml', body: 'a: 1', text: 'a: 1' },
  'text without a type': { type: null, body: 'plain words', text: 'plain words' },
  image: { type: 'image/png', body: Buffer.from('89504e470d0a1a0a', 'hex'), problem: /not a text/ },
  pdf: { type: 'application/pdf', body: '%PDF-1.7', problem: /not a text/ },
  'bytes as text': { type: 'text/plain', body: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]), problem: /not a text/ },
  'image as html': { type: 'text/html', body: Buffer.from('89504e470d0a1a0a0000', 'hex'), problem: /not a text/ },
  svg: { type: 'image/svg+xml', body: '<svg/>', problem: /not a text/ },

  search: {
    type: JSON_TYPE,
    body: JSON.stringify({
      query: 'bells',
      results: Array.from({ length: 14 }, (_, at) => ({
        title: `Hit ${at}`,
        url: `https://h${at}.example/`,
        content: 'About bells.',
        engine: 'e',
      })),
      unresponsive_engines: [],
    }),
    has: ['Hit 0\nhttps://h0.example/\nAbout bells.', 'Hit 9'],
    lacks: ['Hit 10', 'engine'],
  },
};
