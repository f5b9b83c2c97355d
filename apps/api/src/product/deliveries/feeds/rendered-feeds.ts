import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Context } from '../../../context.ts';
import { type Feed, readResults } from './read.ts';
import { renderFeed } from './render.ts';

const MAX_BYTES = 32 * 1024 * 1024;

/** Renders a feed once for each of its tags, and one feed at a time. The process keeps those that were read last. */
export function createRenderedFeeds(): (ctx: Context, feed: Feed, tag: string) => Promise<Buffer> {
  const limit = pLimit(1);
  const render = (ctx: Context, feed: Feed) =>
    limit(async () => Buffer.from(await renderFeed(ctx, feed, await readResults(ctx, feed))));
  const rendered = new LRUCache<string, Buffer, { ctx: Context; feed: Feed }>({
    maxSize: MAX_BYTES,
    sizeCalculation: (atom) => atom.length,
    // A feed that others displace while it is rendered still has its reader.
    ignoreFetchAbort: true,
    fetchMethod: (_tag, _stale, { context: { ctx, feed } }) => render(ctx, feed),
  });
  return (ctx, feed, tag) => rendered.forceFetch(tag, { context: { ctx, feed } });
}
