import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ASSET_URLS } from '@carillon/web/http/assets';
import t from 'tap';
import { openBrowser, SKIP_WITHOUT_BROWSER } from '../../api/test/support/browser.ts';
import { testContext } from '../../api/test/support/context.ts';

const ASSETS = join(import.meta.dirname, '../assets');
const mark = readFileSync(join(ASSETS, 'mark.svg'), 'utf8');

/** `part` of the width that the mark takes; `corner`: the radius of the tile, in per cent. */
const ICONS = {
  'icon-192.png': { size: 192, part: 0.72, corner: 22 },
  'icon-512.png': { size: 512, part: 0.72, corner: 22 },
  'maskable-512.png': { size: 512, part: 0.56, corner: 0 },
  'touch-180.png': { size: 180, part: 0.66, corner: 0 },
};

const draw = ({ size, part, corner }: (typeof ICONS)[keyof typeof ICONS]) => `<!doctype html><style>
  html { background: none } body { margin: 0 }
  div { display: grid; place-items: center; width: ${size}px; height: ${size}px; background: #0c2c26; border-radius: ${corner}% }
  svg { width: ${size * part}px; fill: #5ecbb6 }
</style><div>${mark.replace('fill="#1b8f7d"', '')}</div>`;

t.test('The icons are drawn from the mark', { skip: SKIP_WITHOUT_BROWSER }, async (t) => {
  const page = await (await openBrowser(t)).newPage();
  for (const [name, icon] of Object.entries(ICONS)) {
    await page.setViewportSize({ width: icon.size, height: icon.size });
    await page.setContent(draw(icon));
    const drawn = await page.screenshot({ omitBackground: true });
    const file = join(ASSETS, 'icons', name);
    if (process.env.UPDATE_SCREENSHOTS) writeFileSync(file, drawn);
    const kept = readFileSync(file);
    t.same([kept.readUInt32BE(16), kept.readUInt32BE(20)], [icon.size, icon.size], name);
  }
});

t.test('The manifest names files that exist, and the style sheet too', async (t) => {
  const { app } = await testContext(t);
  for (const url of [ASSET_URLS.manifest, ASSET_URLS.styles]) {
    const { body } = await app.inject({ url });
    const files = [...body.matchAll(/"(\/(?:fonts|images)\/[^"]+)"/g)].map(([, file = '']) => file);
    t.ok(files.length >= 3, url);
    for (const file of files) t.equal((await app.inject({ url: file })).statusCode, 200, file);
  }
  const { body: page } = await app.inject({ url: '/sign-in', headers: { accept: 'text/html' } });
  for (const link of [
    `<link rel="manifest" href="${ASSET_URLS.manifest}">`,
    `<link rel="apple-touch-icon" href="${ASSET_URLS.touchIcon}">`,
    `<link rel="preload" href="${ASSET_URLS.latin}" as="font"`,
  ])
    t.ok(page.includes(link), link);
  const manifest = await app.inject({ url: ASSET_URLS.manifest });
  t.match(manifest.headers['content-type'], 'application/manifest+json');
  t.match(manifest.json(), { start_url: '/', display: 'standalone' });
});
