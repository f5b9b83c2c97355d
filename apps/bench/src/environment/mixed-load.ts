import { setTimeout as delay } from 'node:timers/promises';
import { Agent, FormData, fetch } from 'undici';
import type { Task, User } from './users.ts';

export const REQUEST_KINDS = ['read', 'list', 'create', 'execute', 'upload'] as const;
type RequestKind = (typeof REQUEST_KINDS)[number];

/** What is sent, over and over: more reads than writes, as in life. */
const MIX: readonly RequestKind[] = [
  'read',
  'create',
  'read',
  'execute',
  'list',
  'read',
  'upload',
  'read',
  'execute',
  'list',
];

/** One request and what became of it. */
export interface SentRequest {
  kind: RequestKind;
  /** By `performance.now()`. */
  startedAt: number;
  endedAt: number;
  /** Null: no answer, `why` tells. */
  status: number | null;
  failure: string | null;
  /** What an acknowledged write has made. */
  id: number | string | null;
}

export interface MixedLoad {
  sent: readonly SentRequest[];
  /** Sends no more, and waits for the answers that are still to come. */
  stop(): Promise<void>;
}

export interface MixedLoadOptions {
  url: string;
  people: readonly User[];
  /** Tasks of theirs that may be run. */
  tasks: readonly Task[];
  perSecond: number;
  /** The authority that signed its certificate; those that everybody trusts unless told. */
  ca?: string;
}

/**
 * Requests at an even rate, whether those before are answered or not, over connections that are kept. Nothing is sent
 * twice.
 */
export function startMixedLoad({ url, people, tasks, perSecond, ca }: MixedLoadOptions): MixedLoad {
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 60_000, ...(ca && { connect: { ca } }) });
  const sent: SentRequest[] = [];
  const waiting = new Set<Promise<void>>();
  const tokens = new Map(people.map(({ id, token }) => [id, token]));
  const stopping = new AbortController();

  async function send(kind: RequestKind, turn: number) {
    // Everybody does all of it in turn: nobody reaches a quota by doing one thing only.
    const task = tasks[Math.floor(turn / MIX.length) % tasks.length] as Task;
    const startedAt = performance.now();
    let status: number | null = null;
    let failure: string | null = null;
    let id: SentRequest['id'] = null;
    try {
      const { path, ...init } = buildRequest(kind, task, turn);
      const headers = { ...init.headers, authorization: `Bearer ${tokens.get(task.userId)}` };
      const response = await fetch(`${url}${path}`, { ...init, headers, dispatcher });
      const body = await response.text();
      status = response.status;
      if (response.ok) id = readId(JSON.parse(body));
      else failure = body.slice(0, 200);
    } catch (error) {
      failure = describeError(error as Error);
    }
    sent.push({ kind, startedAt, endedAt: performance.now(), status, failure, id });
  }

  async function go() {
    const startedAt = performance.now();
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const early = startedAt + (turn * 1000) / perSecond - performance.now();
      if (early > 1) await delay(early, undefined, { signal: stopping.signal }).catch(() => {});
      const one = send(MIX[turn % MIX.length] as RequestKind, turn).finally(() => waiting.delete(one));
      waiting.add(one);
    }
  }

  const going = go();
  return {
    sent,
    async stop() {
      stopping.abort();
      await going;
      await Promise.all(waiting);
      await dispatcher.destroy();
    },
  };
}

function buildRequest(kind: RequestKind, task: Task, turn: number) {
  const json = { 'content-type': 'application/json' };
  if (kind === 'read') return { method: 'GET', path: `/api/tasks/${task.id}` };
  if (kind === 'list') return { method: 'GET', path: '/api/executions?limit=20' };
  if (kind === 'execute') return { method: 'POST', path: `/api/tasks/${task.id}/execute` };
  if (kind === 'create') {
    const prompt = `Name a moon of Saturn, and another one than the last ${turn}.`;
    const when = { scheduledFor: '2090-01-01T00:00:00.000Z', recurrence: 'once', timezone: 'UTC' };
    const body = JSON.stringify({ name: `Written under load ${turn}`, prompt, ...when });
    return { method: 'POST', path: '/api/agent/create-task', headers: json, body };
  }
  const body = new FormData();
  body.set(
    'file',
    new File([`Written under load, ${turn}. `.repeat(400)], `notes-${turn}.txt`, { type: 'text/plain' }),
  );
  return { method: 'POST', path: '/api/upload', body };
}

const readId = (body: { taskId?: number; executionId?: number; id?: string }): SentRequest['id'] =>
  body.taskId ?? body.executionId ?? body.id ?? null;

const describeError = ({ message, cause }: Error) =>
  cause instanceof Error ? `${message}: ${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}` : message;
