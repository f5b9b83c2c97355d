import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type Fields, readBytes, readFields, readMessages, readNumber, readText } from './otlp-fields.ts';

type Values = Record<string, string | number | boolean>;

export interface ReceivedSpan {
  name: string;
  kind: 'internal' | 'server' | 'client' | 'other';
  traceId: string;
  spanId: string;
  /** Null for the root of a trace. */
  parentId: string | null;
  /** The ids of the linked spans. */
  links: string[];
  attributes: Values;
  isFailed: boolean;
  /** The message of the status. */
  message: string;
  events: number;
  /** The attributes of the process. */
  resource: Values;
}

export interface OtlpServer {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** Oldest first. */
  spans: ReceivedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  /** Sets the response. Default: 200. */
  answer(reply: number | 'hang'): void;
  /** Returns the only span of this name, throws otherwise. */
  span(name: string): ReceivedSpan;
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** Starts a collector for OTLP traces in protobuf. Stops at the end of `t`. */
export async function startOtlpServer(t?: Test): Promise<OtlpServer> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpServer['requests'] = [];
  let reply: Parameters<OtlpServer['answer']>[0] = 200;

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const { url: path = '', headers } = request;
    const raw = await buffer(request);
    const body = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    requests.push({ path, headers, body });
    if (reply === 'hang') return;
    if (reply === 200) spans.push(...readSpans(body));
    response.writeHead(reply, { 'content-type': 'application/x-protobuf' }).end();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  t?.teardown(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    answer(to) {
      reply = to;
    },
    span(name) {
      const found = spans.filter((span) => span.name === name);
      const [one] = found;
      if (!one || found.length > 1) {
        throw new Error(`${found.length} spans are named ${name}: ${spans.map((span) => span.name).join(', ')}`);
      }
      return one;
    },
    close,
  };
}

const KINDS: Record<number, ReceivedSpan['kind']> = { 1: 'internal', 2: 'server', 3: 'client' };

function readSpans(body: Buffer): ReceivedSpan[] {
  return readMessages(readFields(body), 1).flatMap((one) => {
    const resource = Object.assign({}, ...readMessages(one, 1).map((about) => readAttributes(about, 1)));
    return readMessages(one, 2)
      .flatMap((scope) => readMessages(scope, 2))
      .map((span): ReceivedSpan => {
        const [status = new Map() as Fields] = readMessages(span, 15);
        const parentId = readBytes(span, 4).toString('hex');
        return {
          name: readText(span, 5),
          kind: KINDS[readNumber(span, 6)] ?? 'other',
          traceId: readBytes(span, 1).toString('hex'),
          spanId: readBytes(span, 2).toString('hex'),
          parentId: parentId === '' ? null : parentId,
          links: readMessages(span, 13).map((link) => readBytes(link, 2).toString('hex')),
          attributes: readAttributes(span, 9),
          isFailed: readNumber(status, 3) === 2,
          message: readText(status, 2),
          events: span.get(11)?.length ?? 0,
          resource,
        };
      });
  });
}

function readAttributes(fields: Fields, number: number): Values {
  return Object.fromEntries(
    readMessages(fields, number).map((pair) => {
      const [value = new Map() as Fields] = readMessages(pair, 2);
      return [readText(pair, 1), readScalar(value)];
    }),
  );
}

function readScalar(value: Fields): string | number | boolean {
  if (value.has(2)) return readNumber(value, 2) === 1;
  if (value.has(3)) return Number(BigInt.asIntN(64, value.get(3)?.[0] as bigint));
  if (value.has(4)) return readBytes(value, 4).readDoubleLE();
  return readText(value, 1);
}
