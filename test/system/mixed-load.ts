import { setTimeout as delay } from 'node:timers/promises';
import { Agent, FormData, fetch } from 'undici';
import type { Task, User } from './users.ts';

export type RequestKind = 'read' | 'list' | 'create' | 'execute' | 'upload' | 'login';

/** Of users who sign in. */
export const LOAD_PASSWORD = 'Carillon-2026';

/** The repeated sequence: more reads than writes. */
export const DEFAULT_MIX: readonly RequestKind[] = [
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

export interface SentRequest {
  kind: RequestKind;
  /** By `performance.now()`. */
  startedAt: number;
  endedAt: number;
  /** Null without an answer; see `failure`. */
  status: number | null;
  failure: string | null;
  /** The id of the row that an acknowledged write created. */
  id: number | string | null;
}

export interface MixedLoad {
  /** Stops sending and waits for the pending answers. */
  stop(): Promise<void>;
}

export interface MixedLoadOptions {
  url: string;
  users: readonly User[];
  /** Their tasks that may be executed. */
  tasks: readonly Task[];
  perSecond: number;
  /** The repeated sequence. Default: `DEFAULT_MIX`. */
  mix?: readonly RequestKind[];
  onSent(request: SentRequest): void;
  /** The certificate authority. Default: the well-known ones. */
  ca?: string;
}

/** Sends requests at an even rate over persistent connections, without waiting for answers and without retries. */
export function startMixedLoad(options: MixedLoadOptions): MixedLoad {
  const { url, users, tasks, perSecond, mix = DEFAULT_MIX, onSent, ca } = options;
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 60_000, ...(ca && { connect: { ca } }) });
  const pending = new Set<Promise<void>>();
  const usersById = new Map(users.map((user) => [user.id, user]));
  const stopping = new AbortController();

  async function send(kind: RequestKind, index: number) {
    // The task changes after each sequence, so that no user reaches a quota.
    const task = tasks[Math.floor(index / mix.length) % tasks.length] as Task;
    const user = usersById.get(task.userId) as User;
    const startedAt = performance.now();
    let status: number | null = null;
    let failure: string | null = null;
    let id: SentRequest['id'] = null;
    try {
      const { path, ...init } = buildRequest(kind, { task, user, index });
      const headers = { ...init.headers, authorization: `Bearer ${user.token}` };
      const response = await fetch(`${url}${path}`, { ...init, headers, dispatcher });
      const body = await response.text();
      status = response.status;
      if (response.ok) id = readId(JSON.parse(body));
      else failure = body.slice(0, 200);
    } catch (error) {
      failure = describeError(error as Error);
    }
    onSent({ kind, startedAt, endedAt: performance.now(), status, failure, id });
  }

  async function sendAll() {
    const startedAt = performance.now();
    for (let index = 0; !stopping.signal.aborted; index++) {
      const waitMs = startedAt + (index * 1000) / perSecond - performance.now();
      if (waitMs > 1) await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
      const request = send(mix[index % mix.length] as RequestKind, index).finally(() => pending.delete(request));
      pending.add(request);
    }
  }

  const sending = sendAll();
  return {
    async stop() {
      stopping.abort();
      await sending;
      await Promise.all(pending);
      await dispatcher.destroy();
    },
  };
}

function buildRequest(kind: RequestKind, { task, user, index }: { task: Task; user: User; index: number }) {
  const json = { 'content-type': 'application/json' };
  if (kind === 'read') return { method: 'GET', path: `/api/tasks/${task.id}` };
  if (kind === 'list') return { method: 'GET', path: '/api/executions?limit=20' };
  if (kind === 'execute') return { method: 'POST', path: `/api/tasks/${task.id}/execute` };
  if (kind === 'login') {
    const body = JSON.stringify({ email: user.email, password: LOAD_PASSWORD });
    return { method: 'POST', path: '/api/auth/login', headers: json, body };
  }
  if (kind === 'create') {
    const prompt = `Name a moon of Saturn, other than the last ${index}.`;
    const when = { scheduledFor: '2090-01-01T00:00:00.000Z', recurrence: 'once', timezone: 'UTC' };
    const body = JSON.stringify({ name: `Written under load ${index}`, prompt, ...when });
    return { method: 'POST', path: '/api/agent/create-task', headers: json, body };
  }
  const body = new FormData();
  body.set(
    'file',
    new File([`Written under load, ${index}. `.repeat(400)], `notes-${index}.txt`, { type: 'text/plain' }),
  );
  return { method: 'POST', path: '/api/upload', body };
}

const readId = (body: { taskId?: number; executionId?: number; id?: string }): SentRequest['id'] =>
  body.taskId ?? body.executionId ?? body.id ?? null;

const describeError = ({ message, cause }: Error) =>
  cause instanceof Error ? `${message}: ${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}` : message;
