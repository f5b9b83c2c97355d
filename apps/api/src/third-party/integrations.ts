import type { DesignUser, NotesWorkspace } from '@carillon/contract/integrations';
import { Agent } from 'undici';
import type { Config } from '../config/config.ts';
import { figma } from './figma.ts';
import { notion } from './notion.ts';

/** From the request to the last byte of the answer (decisions §11). */
const DEADLINE_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * What a tool says of a credential. `error` is for the person who gave it and holds nothing of what was sent or
 * answered. `refused`: the tool does not take it. `unavailable`: nothing is known of it, as the tool could not be asked.
 */
export type Verdict<T> = { valid: true; owner: T } | { valid: false; reason: 'refused' | 'unavailable'; error: string };

/** The checks of the third-party tools. They never reject, and keep nothing of a credential. */
export interface Integrations {
  checkNotes(apiKey: string): Promise<Verdict<NotesWorkspace>>;
  checkDesign(token: string): Promise<Verdict<DesignUser>>;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** How a tool is asked whose credential it is. */
export interface Tool<T> {
  name: string;
  /** What it calls its credential. */
  credential: string;
  path: string;
  headers(credential: string): Record<string, string>;
  /** What a 200 says; null where that is not the tool's own answer. */
  read(body: unknown): T | null;
  /** Why it refused, for the person who gave the credential, in our own words. */
  explain(body: unknown): string;
}

/** Notion and Figma at the operator's addresses, which are not under the egress guard (decisions §1, §11). */
export function createIntegrations(
  { integrations }: Pick<Config, 'integrations'>,
  { deadlineMs = DEADLINE_MS } = {},
): Integrations {
  const agent = new Agent({ allowH2: false, connect: { timeout: deadlineMs }, maxResponseSize: MAX_BYTES });
  const check = async <T>(baseUrl: string, tool: Tool<T>, credential: string) =>
    judge(tool, await get(agent, `${baseUrl}${tool.path}`, tool.headers(credential), deadlineMs), deadlineMs);
  return {
    checkNotes: (apiKey) => check(integrations.notesUrl, notion, apiKey),
    checkDesign: (token) => check(integrations.designUrl, figma, token),
    close: () => agent.destroy(),
  };
}

/** `body` is undefined where it was no JSON. */
type Reply = { kind: 'answered'; status: number; body: unknown } | { kind: 'late' } | { kind: 'broken' };

/** One GET, read whole. Redirects are not followed: the credential is for one address only. */
async function get(agent: Agent, url: string, headers: Record<string, string>, deadlineMs: number): Promise<Reply> {
  const stop = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<Reply>();
  const timer = setTimeout(() => {
    // First: a request that still waits for its connection does not hear of the signal.
    resolve({ kind: 'late' });
    stop.abort();
  }, deadlineMs);
  try {
    return await Promise.race([exchange(agent, url, headers, stop.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function exchange(agent: Agent, url: string, headers: Record<string, string>, signal: AbortSignal) {
  try {
    const { origin, pathname: path, search } = new URL(url);
    const { statusCode: status, body } = await agent.request({
      origin,
      path: path + search,
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Carillon', ...headers },
      signal,
    });
    return { kind: 'answered', status, body: parse(await body.text()) } satisfies Reply;
  } catch {
    return { kind: 'broken' } satisfies Reply;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function judge<T>(tool: Tool<T>, reply: Reply, deadlineMs: number): Verdict<T> {
  const unavailable = (what: string): Verdict<T> => ({
    valid: false,
    reason: 'unavailable',
    error: `${tool.name} ${what}, so the ${tool.credential} could not be checked. Try again later.`,
  });
  if (reply.kind === 'late') return unavailable(`did not answer within ${deadlineMs / 1000} s`);
  if (reply.kind === 'broken') return unavailable('could not be reached, or broke off its answer');
  const { status, body } = reply;
  if (status === 200) {
    const owner = tool.read(body);
    return owner === null ? unavailable('sent an answer that is not its own') : { valid: true, owner };
  }
  // A 403 that is no JSON comes from something in front of the tool, such as a firewall that dislikes this server.
  if (status === 401 || (status === 403 && body !== undefined)) {
    return { valid: false, reason: 'refused', error: tool.explain(body) };
  }
  if (status === 429) return unavailable('limits how often it may be asked');
  if (status >= 300 && status < 400) return unavailable('answered with a redirect, which is not followed');
  return unavailable(`answered ${status}`);
}
