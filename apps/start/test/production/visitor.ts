import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { CERTIFICATE } from './certificate.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** The body, parsed; undefined where it is no JSON. */
  json: ReturnType<typeof JSON.parse>;
}

export interface Asked {
  headers?: Record<string, string>;
  /** Sent as JSON, or bytes as they are. */
  body?: object | Buffer;
}

/** Somebody with an address of their own, over connections that are kept. */
export interface Visitor {
  ask(method: string, path: string, asked?: Asked): Promise<Answer>;
  /** The same, as soon as the answer begins; its body is still to come. */
  open(method: string, path: string, asked?: Asked): Promise<IncomingMessage>;
}

interface Test {
  teardown(work: () => void): unknown;
}

/** A visitor of `url` who comes from `address`, one of loopback. */
export function visitor(t: Test, url: string, address: string): Visitor {
  const agent = new Agent({ keepAlive: true, ca: CERTIFICATE, localAddress: address });
  t.teardown(() => agent.destroy());

  async function open(method: string, path: string, { headers = {}, body }: Asked = {}) {
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const type = body === undefined || Buffer.isBuffer(body) ? {} : { 'content-type': 'application/json' };
    const length = bytes ? { 'content-length': bytes.length } : {};
    const sending = request(`${url}${path}`, { method, agent, headers: { ...type, ...length, ...headers } });
    sending.end(bytes);
    const [answer] = await once(sending, 'response');
    return answer as IncomingMessage;
  }

  return {
    open,
    async ask(method, path, asked) {
      const answer = await open(method, path, asked);
      const bytes = await buffer(answer);
      const isJson = answer.headers['content-type']?.startsWith('application/json');
      const json = isJson ? JSON.parse(bytes.toString()) : undefined;
      return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, json };
    },
  };
}
