import { parse } from 'node-html-parser';
import t from 'tap';
import { composeMail, toSubject } from '../../../src/product/deliveries/messages/mail/compose.ts';
import { renderHtml } from '../../../src/product/deliveries/messages/mail/html-part.ts';
import { renderText } from '../../../src/product/deliveries/messages/mail/text-part.ts';
import type { ChannelMessage } from '../../../src/product/deliveries/messages/message.ts';
import { findAccessibilityFaults, openBrowser, SKIP_WITHOUT_BROWSER } from '../../support/browser.ts';
import { attack, RUN_URL } from './support/hostile-answers.ts';

const FOOTER = {
  account: 'alice@example.com',
  channel: 'Team mailbox',
  unsubscribeUrl: `https://carillon.example/unsubscribe/${'a'.repeat(64)}`,
};

function render(message: ChannelMessage) {
  const mail = composeMail(message, FOOTER);
  return { html: renderHtml(mail), text: renderText(mail) };
}

const MESSAGE: ChannelMessage = {
  reader: { language: 'en', timezone: null },
  level: 'success',
  title: 'Prices',
  text: null,
  markdown: null,
  citations: [],
  changes: [],
  url: RUN_URL,
  at: new Date('2026-11-20T10:00:00.000Z'),
  items: [],
};

const VOID = new Set(['meta', 'br', 'hr']);
const ALLOWED = new Set(
  'html head meta title style body table thead tbody tr td th main span h1 h2 h3 h4 h5 h6 p a b strong em s code pre blockquote ul ol li hr br div del ins'.split(
    ' ',
  ),
);
const ATTRIBUTES =
  /^( (href|rel|class|style|dir|role|width|cellpadding|cellspacing|border|align|lang|charset|name|content|scope|start)="[^"<>]*")*$/;

t.test('Hostile messages stay text, with nothing active and no other host behind a link', async (t) => {
  await attack(t, {
    render: (message) => ({ subject: toSubject(message), ...render(message) }),
    measure: ({ html, text, subject }) => [
      { what: 'the HTML', size: Buffer.byteLength(html), limit: 100_000 },
      { what: 'the text', size: text.length, limit: 30_000 },
      { what: 'the subject', size: subject.length, limit: 150 },
    ],
    findMentions: () => [],
    findLinks: ({ html }) =>
      [...html.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)].map(([, href = '', text = '']) => ({
        text: parse(text).text,
        href: parse(href).text,
      })),
    findBroken: ({ html, subject }) => [...findUnknownTags(html), ...(/[\r\n]/.test(subject) ? ['two lines'] : [])],
  });
});

/** Elements and attributes that a mail must not have, and tags in the wrong order. */
function findUnknownTags(html: string): string[] {
  const [head = '', body = ''] = html.split('</head>');
  const open: string[] = [];
  for (const [tag, slash, name = '', attributes = ''] of body.matchAll(/<(\/?)([^\s>]*)([^>]*)>?/g)) {
    if (name === '/html' || (slash && name === 'html')) continue;
    if (!ALLOWED.has(name) || !ATTRIBUTES.test(attributes) || /url\(|expression/.test(attributes)) return [tag];
    if (VOID.has(name)) continue;
    if (!slash) open.push(name);
    else if (open.pop() !== name) return [tag];
  }
  return [...open, ...(/@import|url\(|<script|<link|http-equiv/.test(head) ? ['the head loads something'] : [])];
}

t.test('A mail passes axe in both themes, and loads nothing', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const markdown = `# Today\n\nSee [the list](https://shop.example/list).\n\n| A | B |\n| - | - |\n| 1 | \`2\` |\n\n> Quote\n\n- one\n  - two\n\n\`\`\`\ncode\n\`\`\``;
  const changes = [
    { path: 'price', from: 12.5, to: 11.9 },
    { path: '', from: 'one\ntwo', to: 'one\n2' },
  ];
  const items = (['success', 'failure', 'alert', 'recovery'] as const).map((level) => ({
    ...MESSAGE,
    level,
    markdown,
    changes,
    text: 'An error',
  }));
  const citations = [{ url: 'https://shop.example/', title: 'The shop' }];
  const { html } = render({ ...MESSAGE, title: '4 messages', level: 'notice', citations, items });
  const page = await (await openBrowser(t)).newPage();
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(request.url()));
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setContent(html);
    t.same(await findAccessibilityFaults(page), [], colorScheme);
    await page.setViewportSize({ width: 320, height: 800 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320, 'fits a phone');
  }
  t.same(loaded, []);
});

t.test('A mail lists five sources below the answer, in both parts; a digest lists none', async (t) => {
  const citations = Array.from({ length: 6 }, (_, at) => ({
    url: `https://shop${at}.example/a`,
    title: `Shop <${at}>`,
  }));
  const { html, text } = render({ ...MESSAGE, markdown: 'Both are closed.', citations });
  t.match(text, 'Both are closed.\n\nSources:\n- Shop <0> (shop0.example): https://shop0.example/a\n');
  t.match(
    html,
    /closed\..*>Sources<.*<a href="https:\/\/shop0\.example\/a" rel="noopener noreferrer nofollow"[^>]*>Shop &lt;0&gt; \(shop0/s,
  );
  for (const part of [html, text]) t.same(part.match(/shop\d\.example\/a/g)?.length, 5);
  const digest = render({ ...MESSAGE, items: [{ ...MESSAGE, markdown: 'Both are closed.', citations }] });
  t.notMatch(digest.html + digest.text, /Sources|shop0/);
});
