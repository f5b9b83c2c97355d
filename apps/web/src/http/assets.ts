import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { PAGE_ROUTE } from './page-route.ts';

const ownFile = (name: string) => new URL(`../../assets/${name}`, import.meta.url);
const packageFile = (specifier: string) => new URL(import.meta.resolve(specifier));

const JAVASCRIPT = 'text/javascript; charset=utf-8';

const FILES = {
  styles: { folder: 'styles', name: 'carillon.css', type: 'text/css; charset=utf-8', path: ownFile('styles.css') },
  mark: { folder: 'images', name: 'mark.svg', type: 'image/svg+xml', path: ownFile('mark.svg') },
  htmx: { folder: 'scripts', name: 'htmx.js', type: JAVASCRIPT, path: packageFile('htmx.org/dist/htmx.min.js') },
  timeZone: { folder: 'scripts', name: 'time-zone.js', type: JAVASCRIPT, path: ownFile('time-zone.js') },
  attach: { folder: 'scripts', name: 'attach.js', type: JAVASCRIPT, path: ownFile('attach.js') },
  agent: { folder: 'scripts', name: 'agent.js', type: JAVASCRIPT, path: ownFile('agent.js') },
  live: { folder: 'scripts', name: 'live.js', type: JAVASCRIPT, path: ownFile('live.js') },
} as const;

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

/** The content decides the name, so that browsers may cache a file without asking again. */
function readAsset({ folder, name, type, path }: (typeof FILES)[keyof typeof FILES]): Asset {
  const plain = readFileSync(fileURLToPath(path));
  const hash = createHash('sha256').update(plain).digest('base64url').slice(0, 10);
  return { url: `/${folder}/${name.replace('.', `-${hash}.`)}`, type, plain, compressed: new Map() };
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
      if (!encoding) return reply.send(asset.plain);
      return reply.header('content-encoding', encoding).send(compress(asset, encoding));
    });
  }
  const [mark] = assets.filter(({ type }) => type === 'image/svg+xml');
  app.get('/favicon.ico', PAGE_ROUTE, (_request, reply) => reply.redirect(mark?.url ?? '/', 302));
}
