import { type JsonAnswer, startJsonServer } from './json-server.ts';

export interface NtfyMessage {
  topic: string;
  title?: string;
  message: string;
  priority?: number;
  tags?: string[];
  click?: string;
  markdown?: boolean;
  /** Of the request. */
  bodyBytes: number;
}

export interface NtfyServer {
  url: string;
  messages: NtfyMessage[];
  /** Answers every request with this status and code; null ends that. */
  refuse(refusal: { http: number; code: number; error: string; headers?: Record<string, string> } | null): void;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

const MESSAGE_BYTES = 4096;
const TITLE_LENGTH = 200;
const FIELDS = ['topic', 'title', 'message', 'priority', 'tags', 'click', 'markdown'];

const deny = (http: number, code: number, error: string, headers = {}): JsonAnswer => ({
  status: http,
  headers,
  body: { code, http, error },
});

/** Starts an ntfy server. A topic that begins with `private` needs the token. Attachments are off, as by default. */
export async function startNtfyServer(t: Test, token: string): Promise<NtfyServer> {
  const messages: NtfyMessage[] = [];
  let refusal: Parameters<NtfyServer['refuse']>[0] = null;
  const url = await startJsonServer(t, ({ path, headers, text, body }) => {
    if (refusal) return deny(refusal.http, refusal.code, refusal.error, refusal.headers);
    if (path !== '/') return deny(404, 40401, 'page not found');
    const bodyBytes = Buffer.byteLength(text);
    if (bodyBytes > 2 * MESSAGE_BYTES) return deny(413, 41303, 'JSON body too large');
    const { topic, title = '', message } = body as unknown as NtfyMessage;
    const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
    if (unknown || typeof message !== 'string') return deny(400, 40024, 'invalid request: body must be valid JSON');
    if (!/^[-_A-Za-z0-9]{1,64}$/.test(topic)) return deny(400, 40009, 'invalid request: topic invalid');
    if (headers.authorization !== undefined && headers.authorization !== `Bearer ${token}`) {
      return deny(401, 40101, 'unauthorized');
    }
    if (topic.startsWith('private') && !headers.authorization) return deny(403, 40301, 'forbidden');
    if (title.length > TITLE_LENGTH) return deny(400, 40045, 'invalid request: title too long');
    // What is as long as the limit becomes an attachment.
    if (Buffer.byteLength(message) >= MESSAGE_BYTES) return deny(400, 40014, 'attachments not allowed');
    messages.push({ ...(body as unknown as NtfyMessage), bodyBytes });
    return { status: 200, body: { id: `m${messages.length}`, event: 'message', topic } };
  });
  return {
    url,
    messages,
    refuse: (given) => {
      refusal = given;
    },
  };
}
