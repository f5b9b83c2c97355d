import type { DesignUser, NotesWorkspace } from '@carillon/contract/integrations';
import type { Config } from '../config/config.ts';
import { type JsonObject, parseJson, toObject, toText } from '../egress/exchange.ts';
import { createOperatorClient, type OperatorClient } from '../egress/operator-client.ts';

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** `error` is shown to the user and quotes neither request nor response. */
export type Verdict<T> = { valid: true; owner: T } | { valid: false; reason: 'refused' | 'unavailable'; error: string };

export interface Integrations {
  checkNotes(apiKey: string): Promise<Verdict<NotesWorkspace>>;
  checkDesign(token: string): Promise<Verdict<DesignUser>>;
  close(): Promise<void>;
}

/** The operator chooses the addresses: no egress policy. */
export function createIntegrations(
  { integrations }: Pick<Config, 'integrations'>,
  { timeoutMs = TIMEOUT_MS } = {},
): Integrations {
  const client = createOperatorClient({ connectMs: timeoutMs });
  const check = async <T>(baseUrl: string, tool: ThirdPartyTool<T>, credential: string) => {
    if (!tool.prefixes.some((prefix) => credential.startsWith(prefix))) return rejectForm(tool);
    return toVerdict(
      tool,
      await get(client, `${baseUrl}${tool.path}`, tool.buildHeaders(credential), timeoutMs),
      timeoutMs,
    );
  };
  return {
    checkNotes: (apiKey) => check(integrations.notesUrl, notion, apiKey),
    checkDesign: (token) => check(integrations.designUrl, figma, token),
    close: () => client.close(),
  };
}

/** `body` is undefined unless it is JSON. */
type Answer = { kind: 'answered'; status: number; body: unknown } | { kind: 'timeout' } | { kind: 'connection' };

async function get(
  client: OperatorClient,
  url: string,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  const chunks: Buffer[] = [];
  const { end, status } = await client.request({
    origin,
    path: pathname + search,
    method: 'GET',
    headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Carillon', ...headers },
    timeoutMs,
    maxBytes: MAX_BYTES,
    onData(chunk) {
      chunks.push(chunk);
      return false;
    },
  });
  if (end === 'timeout') return { kind: end };
  if (end !== 'complete' || status === null) return { kind: 'connection' };
  return { kind: 'answered', status, body: parseJson(new TextDecoder().decode(Buffer.concat(chunks))) };
}

const rejectForm = <T>({ name, credential, prefixes }: ThirdPartyTool<T>): Verdict<T> => ({
  valid: false,
  reason: 'refused',
  error: `This is no ${credential} of ${name}: it must begin with ${prefixes.join(' or ')}.`,
});

function toVerdict<T>(tool: ThirdPartyTool<T>, answer: Answer, timeoutMs: number): Verdict<T> {
  const unavailable = (what: string): Verdict<T> => ({
    valid: false,
    reason: 'unavailable',
    error: `${tool.name} ${what}, so the ${tool.credential} could not be checked. Try again later.`,
  });
  if (answer.kind === 'timeout') return unavailable(`did not answer within ${timeoutMs / 1000} s`);
  if (answer.kind === 'connection') return unavailable('could not be reached, or broke off its answer');
  const { status, body } = answer;
  if (status === 200) {
    const owner = tool.readOwner(body);
    return owner === null ? unavailable('sent an answer that is not its own') : { valid: true, owner };
  }
  // A 403 that is not JSON comes from a firewall or proxy.
  if (status === 401 || (status === 403 && body !== undefined)) {
    return { valid: false, reason: 'refused', error: tool.explainRefusal(body) };
  }
  if (status === 429) return unavailable('limits how often it may be asked');
  if (status >= 300 && status < 400) return unavailable('answered with a redirect, which is not followed');
  return unavailable(`answered ${status}`);
}

const VERSION = '2026-03-11';
const UNNAMED = 'Notion workspace';

/** An integration's user is a bot with a workspace; a personal token's has none. */
export const notion: ThirdPartyTool<NotesWorkspace> = {
  name: 'Notion',
  credential: 'key',
  prefixes: ['ntn_', 'secret_'],
  path: '/v1/users/me',
  buildHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}`, 'notion-version': VERSION }),
  readOwner(body) {
    const user = toObject(body);
    const userId = toText(user.id);
    if (user.object !== 'user' || userId === null) return null;
    if (user.type === 'person') return { name: UNNAMED, owner: getUserName(user), id: userId };
    const bot = toObject(user.bot);
    const owner = toObject(bot.owner);
    const name = toText(bot.workspace_name) ?? UNNAMED;
    return {
      name,
      owner: owner.type === 'user' ? getUserName(toObject(owner.user)) : name,
      id: toText(bot.workspace_id) ?? userId,
    };
  },
  explainRefusal: () => 'Notion refused the key: it is wrong, or was revoked.',
};

/** Notion sends the address only to integrations that may see it. */
const getUserName = (user: JsonObject) => toText(user.name) ?? toText(toObject(user.person).email) ?? 'Notion user';

export const figma: ThirdPartyTool<DesignUser> = {
  name: 'Figma',
  credential: 'token',
  prefixes: ['figd_'],
  path: '/v1/me',
  buildHeaders: (token) => ({ 'x-figma-token': token }),
  readOwner(body) {
    const user = toObject(body);
    const [id, email] = [toText(user.id), toText(user.email)];
    if (id === null || email === null) return null;
    return { name: toText(user.handle) ?? email, email, id };
  },
  explainRefusal(body) {
    const { err, message } = toObject(body);
    return /scope/i.test(`${err} ${message}`)
      ? 'Figma refused the token: it lacks the scope current_user:read.'
      : 'Figma refused the token: it is wrong, has expired, or was revoked.';
  },
};

interface ThirdPartyTool<T> {
  name: string;
  credential: string;
  /** Every credential begins with one of these. */
  prefixes: readonly string[];
  path: string;
  buildHeaders(credential: string): Record<string, string>;
  /** For a 200 response; null if the tool did not send it. */
  readOwner(body: unknown): T | null;
  explainRefusal(body: unknown): string;
}
