import * as contract from '@carillon/contract/channels/feeds';
import { includesTag, parseEntityTags } from '../../../platform/http/etag.ts';
import { type Routes, success } from '../../../platform/http/validation.ts';
import { FEED_READS } from '../../../platform/limits/rates.ts';
import { assertRateLimit } from '../../../platform/limits/windows.ts';
import { findFeed } from './read.ts';
import { buildFeedTag } from './render.ts';
import { createRenderedFeeds } from './rendered-feeds.ts';
import { createAccountFeed, createTaskFeed, deleteFeed, feedNotFound } from './write.ts';

const ENDED = { success, message: 'The address of the feed has ended.' };

export const feedsRoutes: Routes = async (app) => {
  const ofTask = { access: 'user', scope: 'tasks:write' } as const;
  const ofAccount = { access: 'user', scope: 'profile:write' } as const;
  // Everyone with the address of a feed can read its results.
  const opened = { alsoScope: 'executions:read', needsConfirmation: true } as const;

  const renderOnce = createRenderedFeeds();

  app.post(
    '/api/tasks/:id/feed',
    { schema: contract.createTaskFeed, config: { ...ofTask, ...opened } },
    async ({ ctx, caller, params }, reply) => {
      const url = await createTaskFeed(ctx, caller, params.id);
      reply.code(201);
      return { success, url };
    },
  );

  app.delete(
    '/api/tasks/:id/feed',
    { schema: contract.deleteTaskFeed, config: ofTask },
    async ({ ctx, caller, params }) => {
      await deleteFeed(ctx, caller, params.id);
      return ENDED;
    },
  );

  app.post(
    '/api/user/feed',
    { schema: contract.createAccountFeed, config: { ...ofAccount, ...opened } },
    async ({ ctx, caller }, reply) => {
      const url = await createAccountFeed(ctx, caller);
      reply.code(201);
      return { success, url };
    },
  );

  app.delete('/api/user/feed', { schema: contract.deleteAccountFeed, config: ofAccount }, async ({ ctx, caller }) => {
    await deleteFeed(ctx, caller, null);
    return ENDED;
  });

  app.get(
    '/feeds/:secret.atom',
    { schema: contract.readFeed, config: { access: 'public' } },
    async ({ ctx, params, headers }, reply) => {
      const feed = await findFeed(ctx, params.secret);
      if (!feed) throw feedNotFound();
      const etag = buildFeedTag(ctx, feed);
      reply.headers({ etag, 'cache-control': 'private, no-cache', 'x-robots-tag': 'noindex' });
      // Feed readers show no error of a header that cannot be parsed, so they get the feed.
      const known = parseEntityTags(headers['if-none-match'] ?? '');
      if (known && includesTag(known, etag)) return reply.code(304).send(null);
      await assertRateLimit(ctx, FEED_READS, `${FEED_READS.bucket} ${feed.id}`);
      return reply.type('application/atom+xml; charset=utf-8').send(await renderOnce(ctx, feed, etag));
    },
  );
};
