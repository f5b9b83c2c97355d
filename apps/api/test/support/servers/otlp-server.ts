import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { bytesOf, type Fields, messages, numberOf, readFields, textOf } from './otlp-fields.ts';

type Values = Record<string, string | number | boolean>;

/** A span as a collector understands it. */
export interface ReceivedSpan {
  name: string;
  kind: 'internal' | 'server' | 'client' | 'other';
  traceId: string;
  spanId: string;
  /** Null for the root of a trace. */
  parentId: string | null;
  /** The ids of the spans that it is linked to. */
  links: string[];
  attributes: Values;
  isFailed: boolean;
  /** What the status says beyond that. */
  message: string;
  events: number;
  /** What is said of the process. */
  resource: Values;
}

export interface OtlpServer {
  /** What `OTEL_EXPORTER_OTLP_ENDPOINT` takes. */
  url: string;
  /** What came, oldest first. */
  spans: ReceivedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  /** What to answer from now on; 200 unless told. */
  answer(reply: number | 'hang'): void;
  /** The one span of this name that came. */
  span(name: string): ReceivedSpan;
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** A real collector, as far as traces by OTLP in protobuf go; it goes away at the end of `t`. */
export async function startOtlpServer(t?: Test): Promise<OtlpServer> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpServer['requests'] = [];
  let reply: Parameters<OtlpServer['answer']>[0] = 200;

  async function take(request: IncomingMessage, response: ServerResponse) {
    const { url: path = '', headers } = request;
    const raw = await buffer(request);
    const body = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    requests.push({ path, headers, body });
    if (reply === 'hang') return;
    if (reply === 200) spans.push(...readSpans(body));
    response.writeHead(reply, { 'content-type': 'application/x-protobuf' }).end();
  }

  const server = createServer((request, response) => {
    take(request, response).catch((error) => response.destroy(error));
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
  return messages(readFields(body), 1).flatMap((one) => {
    const resource = Object.assign({}, ...messages(one, 1).map((about) => valuesOf(about, 1)));
    return messages(one, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span): ReceivedSpan => {
        const [status = new Map() as Fields] = messages(span, 15);
        const parentId = bytesOf(span, 4).toString('hex');
        return {
          name: textOf(span, 5),
          kind: KINDS[numberOf(span, 6)] ?? 'other',
          traceId: bytesOf(span, 1).toString('hex'),
          spanId: bytesOf(span, 2).toString('hex'),
          parentId: parentId === '' ? null : parentId,
          links: messages(span, 13).map((link) => bytesOf(link, 2).toString('hex')),
          attributes: valuesOf(span, 9),
          isFailed: numberOf(status, 3) === 2,
          message: textOf(status, 2),
          events: span.get(11)?.length ?? 0,
          resource,
        };
      });
  });
}

function valuesOf(fields: Fields, number: number): Values {
  return Object.fromEntries(
    messages(fields, number).map((pair) => {
      const [value = new Map() as Fields] = messages(pair, 2);
      return [textOf(pair, 1), scalarOf(value)];
    }),
  );
}

function scalarOf(value: Fields): string | number | boolean {
  if (value.has(2)) return numberOf(value, 2) === 1;
  if (value.has(3)) return Number(BigInt.asIntN(64, value.get(3)?.[0] as bigint));
  if (value.has(4)) return bytesOf(value, 4).readDoubleLE();
  return textOf(value, 1);
}
