import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { prefersType } from './accept.ts';
import { toErrorEvent } from './error-handler.ts';

/** Whether an `Accept` header prefers events to JSON. */
export const wantsEvents = (accept: string | undefined): boolean =>
  prefersType(accept, 'text/event-stream', 'application/json');

/** Aborts when the client disconnects before its answer is complete. */
export function abortOnHangUp(reply: FastifyReply): AbortController {
  const abort = new AbortController();
  const check = () => {
    if (!reply.raw.writableFinished) abort.abort();
  };
  if (reply.raw.destroyed) check();
  else reply.raw.once('close', check);
  return abort;
}

interface Events {
  /** A slow client gets fewer and larger `content` events. */
  addContent(text: string): void;
  end(event: string, data: object): void;
  /** Resolves with the first event; until then the request may be answered otherwise. */
  readonly begun: Promise<void>;
  readonly hasBegun: boolean;
  answer(reply: FastifyReply): FastifyReply;
  /** Closes the stream of a request that is answered otherwise. */
  drop(): void;
}

/** Sends comments every `keepAliveMs`, so that proxies keep the connection; the first may begin the answer. */
export function openEventStream({ keepAliveMs }: { keepAliveMs: number }): Events {
  const begun = Promise.withResolvers<void>();
  let hasBegun = false;
  let content = '';
  let pending = '';
  let isReading = false;
  let hasEnded = false;

  const timer = setInterval(() => send(content || pending ? '' : ': keep-alive\n\n'), keepAliveMs);
  const stream = new Readable({
    read() {
      isReading = true;
      flush();
    },
    destroy(error, done) {
      clearInterval(timer);
      done(error);
    },
  });

  function send(text: string) {
    pending += text;
    hasBegun = true;
    begun.resolve();
    flush();
  }

  function flush() {
    if (!isReading || stream.destroyed) return;
    const text = (content && formatEvent('content', { text: content })) + pending;
    content = '';
    pending = '';
    if (text) isReading = stream.push(text);
    if (hasEnded) stream.push(null);
  }

  return {
    addContent(text) {
      content += text;
      send('');
    },
    end(event, data) {
      clearInterval(timer);
      hasEnded = true;
      send(formatEvent(event, data));
    },
    begun: begun.promise,
    get hasBegun() {
      return hasBegun;
    },
    answer: (reply) => sendEventStream(reply, stream),
    drop: () => stream.destroy(),
  };
}

/** Answers with the content as it arrives, then `done`. What fails before the first event is thrown. */
export async function streamAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { keepAliveMs }: { keepAliveMs: number },
  work: (onContent: (text: string) => void) => Promise<object>,
): Promise<FastifyReply> {
  const events = openEventStream({ keepAliveMs });
  const ended = work(events.addContent).then(
    (answer) => events.end('done', answer),
    (error) => {
      if (events.hasBegun) return events.end('error', toErrorEvent(error, request));
      events.drop();
      throw error;
    },
  );
  await Promise.race([ended, events.begun]);
  return events.answer(reply);
}

/** The headers keep proxies from buffering and compressing it. */
export const sendEventStream = (reply: FastifyReply, body: Readable): FastifyReply =>
  reply
    .type('text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store, no-transform')
    .header('x-accel-buffering', 'no')
    .send(body);

const formatEvent = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
