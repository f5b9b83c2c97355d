import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { PAGE_ROUTE } from './page-route.ts';

const ownFile = (name: string) => new URL(`../../assets/${name}`, import.meta.url);
const packageFile = (specifier: string) => new URL(import.meta.resolve(specifier));

const NAMES_FILES = /\.(css|webmanifest|js)$/;
/** Fonts and pictures of pixels are compressed already. */
const IS_COMPRESSED = /^(font\/|image\/png)/;
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const font = (subset: string) => ({
  folder: 'fonts',
  name: `${subset}.woff2`,
  type: 'font/woff2',
  path: packageFile(`@fontsource-variable/hanken-grotesk/files/hanken-grotesk-${subset}-wght-normal.woff2`),
});
const icon = (name: string) => ({ folder: 'images', name, type: 'image/png', path: ownFile(`icons/${name}`) });

/** A file that names another one follows it. */
const FILES = {
  mark: { folder: 'images', name: 'mark.svg', type: 'image/svg+xml', path: ownFile('mark.svg') },
  /** While a run was not seen. */
  markNews: { folder: 'images', name: 'mark-news.svg', type: 'image/svg+xml', path: ownFile('mark-news.svg') },
  /** While something needs attention. */
  markTrouble: { folder: 'images', name: 'mark-trouble.svg', type: 'image/svg+xml', path: ownFile('mark-trouble.svg') },
  drum: { folder: 'images', name: 'drum.svg', type: 'image/svg+xml', path: ownFile('drum.svg') },
  icon192: icon('icon-192.png'),
  icon512: icon('icon-512.png'),
  maskable: icon('maskable-512.png'),
  touchIcon: icon('touch-180.png'),
  latin: font('latin'),
  latinExt: font('latin-ext'),
  manifest: {
    folder: 'manifest',
    name: 'carillon.webmanifest',
    type: 'application/manifest+json',
    path: ownFile('carillon.webmanifest'),
  },
  styles: { folder: 'styles', name: 'carillon.css', type: 'text/css; charset=utf-8', path: ownFile('styles.css') },
  htmx: { folder: 'scripts', name: 'htmx.js', type: JAVASCRIPT, path: packageFile('htmx.org/dist/htmx.min.js') },
  timeZone: { folder: 'scripts', name: 'time-zone.js', type: JAVASCRIPT, path: ownFile('time-zone.js') },
  attach: { folder: 'scripts', name: 'attach.js', type: JAVASCRIPT, path: ownFile('attach.js') },
  streamAnswer: { folder: 'scripts', name: 'stream-answer.js', type: JAVASCRIPT, path: ownFile('stream-answer.js') },
  tryPrompt: { folder: 'scripts', name: 'try-prompt.js', type: JAVASCRIPT, path: ownFile('try-prompt.js') },
  taskForm: { folder: 'scripts', name: 'task-form.js', type: JAVASCRIPT, path: ownFile('task-form.js') },
  passkey: { folder: 'scripts', name: 'passkey.js', type: JAVASCRIPT, path: ownFile('passkey.js') },
  agent: { folder: 'scripts', name: 'agent.js', type: JAVASCRIPT, path: ownFile('agent.js') },
  strip: { folder: 'scripts', name: 'strip.js', type: JAVASCRIPT, path: ownFile('strip.js') },
  copy: { folder: 'scripts', name: 'copy.js', type: JAVASCRIPT, path: ownFile('copy.js') },
  clock: { folder: 'scripts', name: 'clock.js', type: JAVASCRIPT, path: ownFile('clock.js') },
  search: { folder: 'scripts', name: 'search.js', type: JAVASCRIPT, path: ownFile('search.js') },
  live: { folder: 'scripts', name: 'live.js', type: JAVASCRIPT, path: ownFile('live.js') },
} as const;

type File = { folder: string; name: string; type: string; path: URL };

interface Asset {
  url: string;
  type: string;
  plain: Buffer;
  /** By content encoding. */
  compressed: Map<string, Buffer>;
}

const COMPRESSIONS = {
  br: (plain: Buffer) => brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (plain: Buffer) => gzipSync(plain),
};

const addresses = new Map<string, string>();

/**
 * The content decides the name, so that browsers may cache a file without asking again. Addresses of files read before are
 * replaced in it.
 */
function readAsset({ folder, name, type, path }: File): Asset {
  let plain = readFileSync(fileURLToPath(path));
  if (NAMES_FILES.test(name)) {
    const named = plain
      .toString()
      .replaceAll(/(?<=["'])\/(?:fonts|images|scripts)\/[\w.-]+/g, (named) => addresses.get(named) ?? named);
    plain = Buffer.from(named);
  }
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 10);
  const url = `/${folder}/${name.replace('.', `-${hash}.`)}`;
  addresses.set(`/${folder}/${name}`, url);
  return { url, type, plain, compressed: new Map() };
}

/** Compresses a file at its first request, since all of them take a twentieth of a second of every start. */
function compress({ plain, compressed }: Asset, encoding: keyof typeof COMPRESSIONS): Buffer {
  const known = compressed.get(encoding) ?? COMPRESSIONS[encoding](plain);
  compressed.set(encoding, known);
  return known;
}

const assets = Object.values(FILES).map(readAsset);

/** The address of each file. */
export const ASSET_URLS = Object.fromEntries(
  Object.keys(FILES).map((name, index) => [name, assets[index]?.url ?? '']),
) as Record<keyof typeof FILES, string>;

export function serveAssets(app: FastifyInstance): void {
  for (const asset of assets) {
    app.get(asset.url, PAGE_ROUTE, async (request, reply) => {
      reply
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
        .type(asset.type);
      const accepted = request.headers['accept-encoding'] ?? '';
      const encoding = (['br', 'gzip'] as const).find((name) => new RegExp(`\\b${name}\\b`).test(accepted));
      if (!encoding || IS_COMPRESSED.test(asset.type)) return reply.send(asset.plain);
      return reply.header('content-encoding', encoding).send(compress(asset, encoding));
    });
  }
  app.get('/favicon.ico', PAGE_ROUTE, (_request, reply) => reply.redirect(ASSET_URLS.mark, 302));
}
