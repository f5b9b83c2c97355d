import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openBrowser, SKIP_WITHOUT_BROWSER } from '../../api/test/support/browser.ts';
import { testContext } from '../../api/test/support/context.ts';
import { signUpAlice } from '../../api/test/support/people.ts';
import { insertSample, SAMPLE_NOW } from '../../api/test/support/sample.ts';
import { insertChannels } from '../../api/test/support/sample-channels.ts';

const ROOT = join(import.meta.dirname, '../../..');
const KEPT = join(ROOT, 'docs/images');
/** `pnpm docs:screenshots` replaces the pictures of the documentation. */
const folder = process.env.UPDATE_SCREENSHOTS ? KEPT : t.testdir({});

const { app, ctx, clock } = await testContext(t);
clock.set(SAMPLE_NOW);
const alice = await signUpAlice(app);
const sample = await insertSample(ctx, alice.id);
const { tasks, failedRun, changedRun } = sample;
const digest = tasks.get('Nightly error digest');
const watched = tasks.get('Competitor price watch');

const PAGES = {
  home: '/',
  tasks: '/tasks',
  task: `/tasks/${digest}`,
  form: `/tasks/${digest}/edit`,
  run: `/executions/${failedRun}`,
  watched: `/tasks/${watched}`,
  changed: `/executions/${changedRun}`,
  alerts: '/alerts',
  settings: `/tasks/${watched}/edit#answer`,
};
/** With channels, of which one has failed. */
const CHANNEL_PAGES = { channels: '/channels', 'channel-form': '/channels/new?kind=slack' };
const WIDTHS = { wide: 1280, phone: 390 } as const;
const THEMES = ['light', 'dark'] as const;

t.test(
  'The pictures of the documentation are taken of the pages as they are',
  { skip: SKIP_WITHOUT_BROWSER },
  async (t) => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const browser = await openBrowser(t);
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    await context.addCookies([{ name: 'local-session', value: alice.token, url }]);
    const page = await context.newPage();
    mkdirSync(folder, { recursive: true });
    for (const [name, path] of [...Object.entries(PAGES), ...Object.entries(CHANNEL_PAGES)]) {
      if (name === 'channels') await insertChannels(ctx, alice.id, sample);
      await page.goto(url + path);
      for (const [size, width] of Object.entries(WIDTHS)) {
        await page.setViewportSize({ width, height: 800 });
        for (const theme of THEMES) {
          await page.emulateMedia({ colorScheme: theme });
          const file = `${name}-${size}-${theme}.png`;
          await page.screenshot({ path: join(folder, file) });
          const taken = readPngSize(join(folder, file));
          t.same(taken, { width, height: 800 }, file);
          t.same(readPngSize(join(KEPT, file)), taken, `${file} is in docs/images`);
        }
      }
    }
  },
);

/** From the header of the file. */
function readPngSize(file: string) {
  const header = readFileSync(file).subarray(16, 24);
  return { width: header.readUInt32BE(0), height: header.readUInt32BE(4) };
}
