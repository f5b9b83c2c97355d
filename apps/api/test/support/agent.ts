import { agentCalls, type usageRecords as Records, usageRecords, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { InjectOptions } from 'fastify';
import { agentRoutes } from '../../src/agent/routes.ts';
import { findWrongCounters } from '../../src/usage/verify.ts';
import { START, testContext } from './context.ts';
import { type Person, signUp } from './people.ts';
import { type AiAnswer, type AiServerRequest, startAiServer } from './servers/ai-server.ts';

interface Test {
  beforeEach(work: () => Promise<void>): unknown;
  afterEach(work: () => Promise<void>): unknown;
  teardown(work: () => Promise<void>): unknown;
}

/** The same route with little patience: silent streams tell at once that they live, and calls end soon after the service. */
export const HASTY = '/hasty';

/** The text of the system message of a request to a model. */
export const instructionsOf = ({ body }: Pick<AiServerRequest, 'body'>): string =>
  String(body.messages.find(({ role }) => role === 'system')?.content ?? '');
/** The line that it asks to be put between answer and suggestions. */
export const markerLineOf = (request: Pick<AiServerRequest, 'body'>): string =>
  /^=== [0-9a-f]{16} ===$/m.exec(instructionsOf(request))?.[0] ?? 'no marker was asked for';

/** Answers as a model that does what it is told. */
export const telling =
  (content: string, suggestions: readonly string[] = [], rest: AiAnswer = {}) =>
  (request: Pick<AiServerRequest, 'body'>): AiAnswer => ({
    text: `${content}\n\n${markerLineOf(request)}\n${suggestions.join('\n')}`,
    ...rest,
  });

/** Agent mode before a provider that can be told what to answer. Each test begins at `START`, with an Alice of its own. */
export async function testAgent(t: Test, env: Record<string, string> = {}) {
  const ai = await startAiServer({ apiKey: undefined });
  const test = await testContext(t, {
    env: { AI_BASE_URL: ai.url, AI_API_KEY: 'the-operators-own-key', ...env },
    routes: (app, ctx) => app.register(agentRoutes, { ctx, prefix: HASTY, keepAliveMs: 20, graceMs: 100 }),
  });
  const { ctx, app, clock } = test;
  t.teardown(() => ai.close());
  let alice: Person | undefined;
  t.beforeEach(async () => {
    await ctx.db.delete(users);
    ai.requests.length = 0;
    ai.answer(telling('Titan.', ['Why?', 'How far?']));
    clock.set(START);
    alice = await signUp(app);
  });
  t.afterEach(async () => {
    const wrong = await findWrongCounters(ctx.db);
    if (wrong.length > 0) throw new Error(`The books do not balance: ${JSON.stringify(wrong)}`);
  });

  return {
    ...test,
    ai,
    alice: () => alice as Person,
    ask: (payload: unknown = { message: 'Name a moon.' }, { headers, ...options }: InjectOptions = {}) =>
      app.inject({
        method: 'POST',
        url: '/api/agent/process',
        headers: { ...(alice as Person).headers, ...headers },
        payload: payload as object,
        ...options,
      }),
    /** The entries of Alice's ledger, without their ids. */
    ledger: async (): Promise<Partial<typeof Records.$inferSelect>[]> => {
      const found = await ctx.db
        .select()
        .from(usageRecords)
        .where(eq(usageRecords.userId, (alice as Person).id));
      return found.map(({ id: _, ...record }) => record);
    },
    underWay: () => ctx.db.select().from(agentCalls),
  };
}
