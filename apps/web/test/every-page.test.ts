import { parse } from 'node-html-parser';
import t from 'tap';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../api/test/support/browser.ts';
import { fillAccount } from './support/filled-account.ts';
import { type ShownPage, type Visitor, visit } from './support/visitor.ts';

const { app, ada, pages, others } = await fillAccount(t);
const PUBLIC = /^\/(sign-in|register|forgot-password|setup|handler\/|unsubscribe\/)/;

const [asAda, asGuest] = [await openAll(visit(app, ada)), await openAll(visit(app))];

async function openAll(visitor: Visitor): Promise<Map<string, ShownPage>> {
  const opened = new Map<string, ShownPage>();
  for (const address of [...pages, ...others, '/nothing']) opened.set(address, await visitor.open(address));
  return opened;
}

t.test('Every page has one heading of the first level, which is its title', async (t) => {
  for (const address of pages) {
    const { status, document, heading } = asAda.get(address) as ShownPage;
    t.ok(status < 500, `${address} is ${status}`);
    t.equal(document.querySelectorAll('h1').length, 1, address);
    const title = document.querySelector('title')?.text.replace(/^\(99\+\) /, '');
    t.equal(title, `${heading} · Carillon`, address);
  }
});

t.test('Ids are unique on every page, and what has a name has a role', async (t) => {
  for (const address of pages) {
    const { document } = asAda.get(address) as ShownPage;
    const ids = document.querySelectorAll('[id]').map(({ id }) => id);
    t.same(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      [],
      address,
    );
    t.equal(document.querySelectorAll('pre:is([aria-label], [aria-labelledby]):not([role])').length, 0, address);
  }
});

/** Backticks, kinds of events, constants and instants, as programs write them. */
const OF_PROGRAMS = [/`/, /\b[a-z]{2,}\.[a-z]+_?[a-z]*ed\b/, /\b[A-Z]{3,}_[A-Z_]{3,}\b/, /\d{4}-\d\d-\d\dT\d\d:/];

t.test('No page speaks to people as to programs, outside of code', async (t) => {
  for (const address of pages) {
    const main = parse(asAda.get(address)?.response.body ?? '').querySelector('main');
    for (const code of main?.querySelectorAll('code, pre, textarea, .answer, .sent') ?? []) code.remove();
    const text = main?.structuredText ?? '';
    for (const pattern of OF_PROGRAMS) t.notMatch(text, pattern, address);
  }
});

t.test('Every page that needs a session asks a guest to sign in', async (t) => {
  for (const address of pages.filter((one) => !PUBLIC.test(one))) {
    t.equal(asGuest.get(address)?.heading, 'Sign in', address);
  }
});

t.test('No page is framed, kept by a browser, or taken for another type', async (t) => {
  for (const [address, { response }] of [...asAda, ...asGuest]) {
    const { headers } = response;
    t.match(headers['content-security-policy'], /frame-ancestors 'none'/, address);
    t.notMatch(headers['content-security-policy'], /unsafe|https?:|\*/, address);
    t.match(
      headers,
      { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' },
      address,
    );
  }
});

/** A phone, a page of 1,280 px at a zoom of 200 %, and two screens. */
const WIDTHS = [320, 640, 1280, 1920] as const;

t.test(
  'Every page passes axe in both themes, fits 320 to 1,920 px and obeys its policy',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const browser = await openBrowser(t);
    const { page, problems } = await openPage(browser, { reducedMotion: 'reduce' });
    await page.context().addCookies([{ name: 'local-session', value: ada.token, url }]);
    for (const address of pages) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(url + address, { waitUntil: 'domcontentloaded' });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const shown = await page.evaluate('document.documentElement.scrollWidth');
        t.ok(Number(shown) <= width, `${address} is ${shown} px wide at ${width} px`);
      }
      t.same(await findAccessibilityFaults(page), [], `${address}, light`);
      // The themes differ in colours only.
      await page.emulateMedia({ colorScheme: 'dark' });
      t.same(await findAccessibilityFaults(page, ['color-contrast']), [], `${address}, dark`);
      t.same(problems.splice(0), [], address);
    }
  },
);
