import { type JsonAnswer, startJsonServer } from './json-server.ts';

export interface AppriseMessage {
  /** Of the configuration; null for the URLs of the request. */
  key: string | null;
  urls: string[];
  title: string;
  body: string;
  type: string;
  format: string;
}

export interface AppriseServer {
  url: string;
  messages: AppriseMessage[];
  /** Answers every request with this status; null ends that. */
  refuse(refusal: { status: number; headers?: Record<string, string> } | null): void;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

const deny = (status: number, error: string, headers = {}): JsonAnswer => ({ status, headers, body: { error } });

/** Starts an Apprise API with the configurations of these keys. A URL that begins with `fail:` fails. */
export async function startAppriseServer(t: Test, keys: Record<string, string[]>): Promise<AppriseServer> {
  const messages: AppriseMessage[] = [];
  let refusal: Parameters<AppriseServer['refuse']>[0] = null;
  const url = await startJsonServer(t, ({ path, body }) => {
    if (refusal) return deny(refusal.status, 'refused', refusal.headers);
    const [, key = null] = /^\/notify(?:\/([\w-]{1,64}))?\/?$/.exec(path) ?? [null, undefined];
    if (!path.startsWith('/notify')) return deny(404, 'not found');
    if (key !== null && !keys[key]) return { status: 204 };
    const { urls: given, title, body: content, type, format } = body as unknown as AppriseMessage;
    const urls = key === null ? [given].flat().filter((one) => typeof one === 'string') : (keys[key] as string[]);
    if (urls.length === 0) return { status: 204 };
    if (typeof content !== 'string' || content === '' || !['info', 'success', 'warning', 'failure'].includes(type)) {
      return deny(400, 'Bad FORM Payload provided');
    }
    if (!['text', 'markdown', 'html'].includes(format)) return deny(400, 'An invalid body format was specified');
    if (Buffer.byteLength(JSON.stringify(body)) > 3 * 1024 * 1024) return deny(431, 'The request is too large');
    messages.push({ key, urls, title, body: content, type, format });
    if (urls.some((one) => one.startsWith('fail:'))) {
      return deny(424, 'One or more notification could not be sent');
    }
    return { status: 200, body: { error: null } };
  });
  return {
    url,
    messages,
    refuse: (given) => {
      refusal = given;
    },
  };
}
