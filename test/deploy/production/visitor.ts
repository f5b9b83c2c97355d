import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { CERTIFICATE } from './certificate.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** Undefined if the body is not JSON. */
  json: ReturnType<typeof JSON.parse>;
}

export interface VisitorRequest {
  headers?: Record<string, string>;
  /** Objects are sent as JSON. */
  body?: object | Buffer;
}

/** A client with an IP address of its own and keep-alive connections. */
export interface Visitor {
  ask(method: string, path: string, request?: VisitorRequest): Promise<Answer>;
  /** Resolves at the start of the response, before its body. */
  open(method: string, path: string, request?: VisitorRequest): Promise<IncomingMessage>;
}

interface Test {
  teardown(work: () => void): unknown;
}

/** `address` is a loopback address. */
export function createVisitor(t: Test, url: string, address: string): Visitor {
  const agent = new Agent({ keepAlive: true, ca: CERTIFICATE, localAddress: address });
  t.teardown(() => agent.destroy());

  async function open(method: string, path: string, { headers = {}, body }: VisitorRequest = {}) {
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
    async ask(method, path, options) {
      const answer = await open(method, path, options);
      const bytes = await buffer(answer);
      const isJson = answer.headers['content-type']?.startsWith('application/json');
      const json = isJson ? JSON.parse(bytes.toString()) : undefined;
      return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, json };
    },
  };
}
