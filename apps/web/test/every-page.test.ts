import t from 'tap';
import { composeReset } from '../../api/src/auth/password-reset.ts';
import { requestConfirmations } from '../../api/src/notifications/addresses.ts';
import {
  findAccessibilityFaults,
  openBrowser,
  openPage,
  SKIP_WITHOUT_BROWSER,
} from '../../api/test/support/browser.ts';
import { testContext } from '../../api/test/support/context.ts';
import { insertCoupon } from '../../api/test/support/coupons.ts';
import { createKey } from '../../api/test/support/keys.ts';
import { readQueuedTokens } from '../../api/test/support/mails.ts';
import { signUpAda } from '../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../api/test/support/sample.ts';
import { insertActivity } from '../../api/test/support/sample-activity.ts';
import { insertUpload } from '../../api/test/support/tasks.ts';
import { listPages, toAddress } from './support/every-page.ts';
import { visit } from './support/visitor.ts';

const { app, ctx, clock } = await testContext(t);
clock.set(SAMPLE_NOW);
const ada = await signUpAda(app);
const sample = await insertSample(ctx, ada.id);
const file = await insertUpload(ctx, ada);
const activity = await insertActivity(ctx, ada.id, sample);

async function requestConfirmation(): Promise<string> {
  const email = 'team@example.com';
  await requestConfirmations(ctx, ada.id, [email]);
  const [token = ''] = await readQueuedTokens(ctx, email);
  return token;
}

/** The ids of what pages show, by the address before them. */
const PARAMETERS = {
  '/tasks/': sample.tasks.get('Nightly error digest') ?? 0,
  '/executions/': sample.failedRun,
  '/files/': file.id,
  '/webhooks/': sample.webhook,
  '/webhooks/:id/deliveries/': activity.delivery,
  '/admin/users/': ada.id,
  '/admin/coupons/': (await insertCoupon(ctx, { code: 'SPRING-2026' })).id,
  '/settings/keys/': (await createKey(app, ada)).id,
  '/handler/reset-password/': (await composeReset(ctx, ada.email))?.link.split('/').at(-1) ?? '',
  '/handler/confirm-email/': await requestConfirmation(),
};
/** Pages that show what their query names. */
const QUERIES: Readonly<Record<string, string>> = { '/tasks/delete': `?ids=${PARAMETERS['/tasks/']}` };
/** Texts, parts of pages, and pages that show nothing once there is an account. */
const LEFT_OUT: readonly string[] = ['/executions/:id/text', '/tasks/new/runs', '/setup'];
const PUBLIC = /^\/(sign-in|register|forgot-password|setup|handler\/)/;

const pages = listPages(app)
  .filter((pattern) => !LEFT_OUT.includes(pattern))
  .map((pattern) => `${toAddress(pattern, PARAMETERS)}${QUERIES[pattern] ?? ''}`);

t.test('Every page has one heading of the first level, which is its title', async (t) => {
  const visitor = visit(app, ada);
  for (const address of pages) {
    const { status, document, heading } = await visitor.open(address);
    t.ok(status < 500, `${address} is ${status}`);
    t.equal(document.querySelectorAll('h1').length, 1, address);
    t.equal(document.querySelector('title')?.text, `${heading} · Carillon`, address);
  }
});

t.test('Every page that needs a session asks a guest to sign in', async (t) => {
  for (const address of pages.filter((one) => !PUBLIC.test(one))) {
    t.equal((await visit(app).open(address)).heading, 'Sign in', address);
  }
});

t.test('No page is framed, kept by a browser, or taken for another type', async (t) => {
  for (const visitor of [visit(app, ada), visit(app)]) {
    for (const address of [...pages, ...LEFT_OUT.map((pattern) => toAddress(pattern, PARAMETERS)), '/nothing']) {
      const { headers } = (await visitor.open(address)).response;
      t.match(headers['content-security-policy'], /frame-ancestors 'none'/, address);
      t.notMatch(headers['content-security-policy'], /unsafe|https?:|\*/, address);
      t.match(
        headers,
        { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' },
        address,
      );
    }
  }
});

const WIDTHS = [320, 1280] as const;

t.test(
  'Every page passes axe in both themes, fits 320 px and obeys its policy',
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
