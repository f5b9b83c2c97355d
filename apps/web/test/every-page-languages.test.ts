import { type HTMLElement, type Node, NodeType } from 'node-html-parser';
import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../api/test/support/browser.ts';
import { findSharedTexts } from '../../api/test/support/shared-words.ts';
import { readStoredTexts } from '../../api/test/support/stored-texts.ts';
import { until } from '../../api/test/support/until.ts';
import { fillAccount } from './support/filled-account.ts';
import { type ShownPage, visit } from './support/visitor.ts';

/** What other products call their buttons. */
const NAMES = ['Add New Webhook to Workspace', 'MCP: Open User Configuration'];

const { app, ctx, ada, pages, others, parameters } = await fillAccount(t);
// Files of tasks have no text of this application.
const addresses = [...pages, ...others.filter((address) => !/\.yaml$|\/template$/.test(address)), '/nothing'];

// The first visit marks runs as seen.
await openAll('en', ada);
const english = { signedIn: await openAll('en', ada), guest: await openAll('en') };
const change = { method: 'PATCH', url: '/api/user/settings', headers: ada.headers } as const;
// Rendering all pages at once can delay the event loop, for which a request is 503.
await until(async () => (await app.inject({ ...change, payload: { language: 'pt-BR' } })).statusCode === 200);
const portuguese = { signedIn: await openAll('pt-BR', ada), guest: await openAll('pt-BR') };
const stored = strip(await readStoredTexts(ctx));

async function openAll(language: string, person?: typeof ada): Promise<Map<string, ShownPage>> {
  const visitor = visit(app, person, language);
  const opened = new Map<string, ShownPage>();
  for (const address of addresses) opened.set(address, await visitor.open(address));
  return opened;
}

/** Whether each part of a text was written by people or models, or is a name of one word. */
const isStored = (text: string) =>
  text
    .split(/ · |\. |^[^\p{L}(]+|: |^\(\d+\+?\) |…$/u)
    .map(strip)
    .every((part) => !part.includes(' ') || stored.includes(part) || stored.includes(part.replace(/^\S+ /, '')));

/** Without line breaks and the signs of Markdown, which pages do not show. */
function strip(text: string): string {
  return text
    .replaceAll(/[*_`#|>\\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

for (const kind of ['signedIn', 'guest'] as const) {
  const pairs = addresses.map((address) => {
    const [en, pt] = [english[kind].get(address), portuguese[kind].get(address)];
    return { address, en: en as ShownPage, pt: pt as ShownPage };
  });

  t.test(`Each page has the same controls in both languages, and names its language: ${kind}`, async (t) => {
    for (const { address, en, pt } of pairs) {
      t.equal(pt.status, en.status, address);
      if (en.document.querySelector('html')) {
        t.equal(en.document.querySelector('html')?.getAttribute('lang'), 'en', address);
        t.equal(pt.document.querySelector('html')?.getAttribute('lang'), 'pt-BR', address);
      }
      t.strictSame(listControls(pt.document), listControls(en.document), address);
    }
  });

  t.test(`No page in Portuguese has an English sentence left: ${kind}`, async (t) => {
    for (const { address, en, pt } of pairs) {
      const left = findSharedTexts(listTexts(en.document), listTexts(pt.document));
      t.strictSame(
        left.filter((text) => !NAMES.includes(text) && !isStored(text)),
        [],
        address,
      );
    }
  });
}

/** Words are longer in Portuguese. */
const NARROW = [
  '/',
  '/tasks',
  `/tasks/${parameters['/tasks/']}`,
  '/tasks/new',
  '/tasks/new?template=price-and-stock',
  '/templates',
  '/executions',
  `/executions/${parameters['/executions/']}`,
  '/channels',
  '/webhooks',
  '/usage',
  '/notifications',
  '/settings',
  '/admin',
];

t.test('Pages in Portuguese fit 320 and 1,280 px and pass axe', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { page } = await openPage(await openBrowser(t), { reducedMotion: 'reduce' });
  await page.context().addCookies([{ name: 'local-session', value: ada.token, url }]);
  for (const address of NARROW) {
    await page.goto(url + address, { waitUntil: 'domcontentloaded' });
    for (const width of [1280, 320]) {
      await page.setViewportSize({ width, height: 900 });
      const shown = await page.evaluate('document.documentElement.scrollWidth');
      t.ok(Number(shown) <= width, `${address} is ${shown} px wide at ${width} px`);
    }
    t.same(await findAccessibilityFaults(page), [], address);
  }
});

/** What somebody can do: fields and buttons by their names, forms and links by their addresses. */
function listControls(document: HTMLElement): string[] {
  return document.querySelectorAll('form, input, select, textarea, button, a[href]').map((one) => {
    const attributes = ['action', 'method', 'name', 'type', 'href', 'required', 'autocomplete'];
    const given = attributes.flatMap((name) => {
      const value = one.getAttribute(name);
      return value === undefined ? [] : [`${name}=${value}`];
    });
    return [one.tagName, ...given].join(' ');
  });
}

/** Texts between tags, and of attributes that people read or hear. */
function listTexts(node: Node): string[] {
  if (node.nodeType === NodeType.TEXT_NODE) return [node.text];
  const element = node as HTMLElement;
  if (['PRE', 'CODE', 'SCRIPT', 'STYLE', 'TEXTAREA'].includes(element.tagName)) return [];
  const spoken = ['title', 'aria-label', 'placeholder', 'alt'].flatMap((name) => element.getAttribute?.(name) ?? []);
  return [...spoken, ...element.childNodes.flatMap(listTexts)];
}
