import { agentCalls, type usageRecords as Records, usageRecords, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { InjectOptions } from 'fastify';
import { agentRoutes } from '../../src/product/agent/routes.ts';
import { findWrongCounters } from '../../src/product/usage/verify.ts';
import { START, testContext } from './context.ts';
import { type Person, signUp } from './people.ts';
import { type AiAnswer, type AiServerRequest, startAiServer } from './servers/ai-server.ts';

interface Test {
  beforeEach(work: () => Promise<void>): unknown;
  afterEach(work: () => Promise<void>): unknown;
  teardown(work: () => Promise<void>): unknown;
}

/** The prefix of the same routes with short intervals for keep-alive comments and shutdown. */
export const SHORT_TIMEOUTS_PREFIX = '/impatient';

export const readInstructions = ({ body }: Pick<AiServerRequest, 'body'>): string =>
  String(body.messages.find(({ role }) => role === 'system')?.content ?? '');
export const readMarkerLine = (request: Pick<AiServerRequest, 'body'>): string =>
  /^=== [0-9a-f]{16} ===$/m.exec(readInstructions(request))?.[0] ?? 'no marker';

/** The answer of a model that follows its instructions. */
export const buildModelAnswer =
  (content: string, suggestions: readonly string[] = [], rest: AiAnswer = {}) =>
  (request: Pick<AiServerRequest, 'body'>): AiAnswer => ({
    text: `${content}\n\n${readMarkerLine(request)}\n${suggestions.join('\n')}`,
    ...rest,
  });

/** Agent mode with an AI server. Each test starts at `START` with a new Alice and ends with correct usage counters. */
export async function testAgent(t: Test, env: Record<string, string> = {}) {
  const ai = await startAiServer({ apiKey: undefined });
  const test = await testContext(t, {
    env: { AI_BASE_URL: ai.url, AI_API_KEY: 'the-operators-own-key', ...env },
    routes: (app, ctx) =>
      app.register(agentRoutes, { ctx, prefix: SHORT_TIMEOUTS_PREFIX, keepAliveMs: 20, graceMs: 100 }),
  });
  const { ctx, app, clock } = test;
  t.teardown(() => ai.close());
  let alice: Person | undefined;
  t.beforeEach(async () => {
    await ctx.db.delete(users);
    ai.requests.length = 0;
    ai.answer(buildModelAnswer('Titan.', ['Why?', 'How far?']));
    clock.set(START);
    alice = await signUp(app);
  });
  t.afterEach(async () => {
    const wrong = await findWrongCounters(ctx.db);
    if (wrong.length > 0) throw new Error(`Wrong usage counters: ${JSON.stringify(wrong)}`);
  });

  return {
    ...test,
    ai,
    alice: () => alice as Person,
    ask: (payload: unknown = { message: 'Name a moon.' }, { headers, ...options }: InjectOptions = {}) =>
      app.inject({
        method: 'POST',
        url: '/api/agent/process?propose=true',
        headers: { ...(alice as Person).headers, ...headers },
        payload: payload as object,
        ...options,
      }),
    /** Alice's usage records, without their ids. */
    readRecords: async (): Promise<Partial<typeof Records.$inferSelect>[]> => {
      const found = await ctx.db
        .select()
        .from(usageRecords)
        .where(eq(usageRecords.userId, (alice as Person).id));
      return found.map(({ id: _, ...record }) => record);
    },
    readCallsUnderWay: () => ctx.db.select().from(agentCalls),
  };
}
