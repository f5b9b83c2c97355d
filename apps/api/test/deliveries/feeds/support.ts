import { executions } from '@carillon/db';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../../src/context.ts';
import { confirmSession, type Person } from '../../support/people.ts';

/** Creates the feed of a task, or of the account, and returns its path. */
export async function postFeed(app: FastifyInstance, { headers }: Pick<Person, 'headers'>, taskId?: number) {
  const url = taskId === undefined ? '/api/user/feed' : `/api/tasks/${taskId}/feed`;
  const post = () => app.inject({ method: 'POST', url, headers });
  let answer = await post();
  if (answer.headers['x-error-code'] === 'CONFIRMATION_REQUIRED') {
    await confirmSession(app, { headers });
    answer = await post();
  }
  if (answer.statusCode !== 201) throw new Error(answer.body);
  return new URL(answer.json().url).pathname;
}

export const deleteFeedOf = (app: FastifyInstance, { headers }: Pick<Person, 'headers'>, taskId?: number) =>
  app.inject({ method: 'DELETE', url: taskId === undefined ? '/api/user/feed' : `/api/tasks/${taskId}/feed`, headers });

type Run = Partial<typeof executions.$inferInsert>;

/** Inserts an execution that has ended, and returns its id. Default: completed now. */
export async function insertRun(ctx: Context, { id: userId }: Person, taskId: number, values: Run = {}) {
  const at = ctx.now();
  const times = { runAt: at, createdAt: at, startedAt: at, completedAt: at };
  const run = {
    taskId,
    userId,
    status: 'completed',
    trigger: 'manual',
    result: 'Done.',
    archived: true,
    ...times,
    ...values,
  } as const;
  const [inserted] = await ctx.db.insert(executions).values(run).returning({ id: executions.id });
  return inserted?.id as number;
}

export interface ReadEntry {
  id: string;
  title: string;
  updated: string;
  link: string;
  /** HTML. */
  content: string;
}

/** Reads a feed that the schema has accepted. */
export function parseFeed(xml: string): Omit<ReadEntry, 'content'> & { entries: ReadEntry[] } {
  const [head = '', ...entries] = xml.split('<entry>');
  return { ...parseEntry(head), entries: entries.map(parseEntry) };
}

function parseEntry(xml: string): ReadEntry {
  const read = (pattern: RegExp) => readEntities(pattern.exec(xml)?.[1] ?? '');
  return {
    id: read(/<id>(.*?)<\/id>/s),
    title: read(/<title>(.*?)<\/title>/s),
    updated: read(/<updated>(.*?)<\/updated>/s),
    link: read(/<link rel="alternate" type="text\/html" href="(.*?)"\/>/s),
    content: read(/<content type="html">(.*?)<\/content>/s),
  };
}

const CHARACTERS: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

export const readEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (one) => CHARACTERS[one] as string);
