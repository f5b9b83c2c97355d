import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@carillon/contract/primitives';
import { taskProposals } from '@carillon/db';
import type { Context } from '../../src/context.ts';
import { readMarkerLine, type testAgent } from './agent.ts';
import type { Person } from './people.ts';
import type { AiServerRequest } from './servers/ai-server.ts';
import { TASK } from './tasks.ts';

/** Inserts a proposal of a task, for the person. Returns its id. */
export async function insertProposal(
  ctx: Pick<Context, 'db' | 'now'>,
  { id: userId }: Pick<Person, 'id'>,
  draft: object = TASK,
): Promise<string> {
  const id = randomUUID();
  const createdAt = ctx.now();
  const expiresAt = new Date(createdAt.getTime() + DAY_MS);
  await ctx.db.insert(taskProposals).values({ id, userId, draft: { ...draft }, createdAt, expiresAt });
  return id;
}

export const PROMPT = 'Compare the price of the ferry with that of the train.';
/** The draft of a model. */
export const FRIDAYS = { name: 'Ferry or train', prompt: PROMPT, recurrencePattern: '0 17 * * 5' };

type Agent = Pick<Awaited<ReturnType<typeof testAgent>>, 'ai' | 'ask'>;

/** Lets the model propose a task: a draft, or the text that it writes instead. */
export function proposeDraft({ ai }: Pick<Agent, 'ai'>, draft: unknown, rest: object = {}): void {
  const json = typeof draft === 'string' ? draft : JSON.stringify({ proposedTask: draft });
  ai.answer((request: AiServerRequest) => ({
    text: `I propose this.\n\n${readMarkerLine(request)}\n${json}\nAt six instead`,
    ...rest,
  }));
}

/** Returns the answer with the proposal. */
export async function askForTask({ ai, ask }: Agent, draft: unknown, context?: object) {
  proposeDraft({ ai }, draft);
  const answer = await ask({ message: 'Do it each Friday.', ...(context && { context }) });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer.json();
}
