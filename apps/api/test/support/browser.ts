import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import tap, { type Test } from 'tap';

const folders = (process.env.PATH ?? '').split(delimiter);
const findProgram = (name: string) => folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
const CHROMIUM = findProgram('chromium');
/** Chromium without windows and without pages kept for the back button: opens a page in a quarter of the processor time. */
const SHELL = findProgram('chromium-headless-shell') ?? CHROMIUM;
if (CHROMIUM === undefined && process.env.REQUIRE_PROGRAMS) {
  throw new Error('REQUIRE_PROGRAMS is set, but there is no chromium on the path.');
}

/** The `skip` of tests that need a browser. */
export const SKIP_WITHOUT_BROWSER = CHROMIUM === undefined ? 'needs Chromium (apt-get install chromium)' : false;

/** No sandbox, because root cannot have one; nothing that goes to the network by itself. */
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const browsers = new Map<boolean, Promise<Browser>>();

/**
 * The Chromium of this process, whose pages close with `t`. `keepsPages`: whether the back button may show a page as it was
 * left, in a Chromium apart.
 */
export async function openBrowser(t: Test, { keepsPages = false } = {}): Promise<Browser> {
  const running = await browsers.get(keepsPages);
  const launched = running?.isConnected() ? running : launchBrowser(keepsPages);
  browsers.set(keepsPages, Promise.resolve(launched));
  const browser = await launched;
  t.teardown(() => Promise.all(browser.contexts().map((context) => context.close())));
  return browser;
}

async function launchBrowser(keepsPages: boolean): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: keepsPages ? CHROMIUM : SHELL,
    args: SWITCHES,
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
  });
  // The end of the process, also where it runs several test files.
  tap.teardown(() => browser.close());
  return browser;
}

export interface OpenPage {
  page: Page;
  /** Exceptions, messages of the console such as violations of the policy, and requests to other hosts. */
  problems: string[];
}

/** Opens a page without cookies or storage of other pages. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    const isLocal = protocol === 'data:' || host === new URL(page.url()).host || request.isNavigationRequest();
    if (!isLocal) problems.push(`request to ${host}`);
  });
  return { page, problems };
}

const { source } = createRequire(import.meta.resolve('@axe-core/playwright'))('axe-core') as { source: string };

/** The faults that axe finds on the page, as `rule: element`. `rules`: only these. */
export async function findAccessibilityFaults(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // After a change of the colour scheme, colours are on their way.
  await page.evaluate('document.getAnimations().forEach((one) => one instanceof CSSTransition && one.finish())');
  // The builder would load these 650 KB twice into the page for each analysis.
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(source);
  // Pages have no frames, for which axe would open another page each time.
  const builder = new AxeBuilder({ page, axeSource: 'undefined' });
  const axe = builder.options({ resultTypes: ['violations'] }).setLegacyMode();
  const { violations } = await (rules.length > 0 ? axe.withRules([...rules]) : axe).analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}
