import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Whether a client that sends this `Accept` would rather have events than JSON; JSON where it does not care. */
export function wantsEvents(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
  });
  // The range that says most about a type counts (RFC 9110, 12.5.1).
  const qualityOf = (type: string) =>
    [type, type.replace(/\/.*/, '/*'), '*/*'].map((one) => ranges.find((range) => range.type === one)).find(Boolean)
      ?.quality ?? 0;
  return qualityOf('text/event-stream') > qualityOf('application/json');
}

/** Aborts when the client hangs up before its answer is whole. */
export function abortOnHangUp(reply: FastifyReply): AbortController {
  const abort = new AbortController();
  const look = () => {
    if (!reply.raw.writableFinished) abort.abort();
  };
  if (reply.raw.destroyed) look();
  else reply.raw.once('close', look);
  return abort;
}

/** Server-sent events on their way to one client. */
export interface Events {
  /** Adds to the text of `content` events. A client that reads slowly gets it in fewer and larger ones. */
  addContent(text: string): void;
  /** The last event. */
  end(event: string, data: object): void;
  /** Resolves once there is anything to send: until then the request may still be answered otherwise. */
  readonly begun: Promise<void>;
  readonly hasBegun: boolean;
  /** Answers with the events, those that are still to come among them. */
  answer(reply: FastifyReply): FastifyReply;
  /** Gives up: the request is answered otherwise. */
  drop(): void;
}

/** A comment every `keepAliveMs`, the first of which begins the answer, tells proxies that somebody is thinking. */
export function openEventStream({ keepAliveMs }: { keepAliveMs: number }): Events {
  const begun = Promise.withResolvers<void>();
  let hasBegun = false;
  let content = '';
  let rest = '';
  let isWanted = false;
  let isOver = false;

  const timer = setInterval(() => send(content || rest ? '' : ': keep-alive\n\n'), keepAliveMs);
  const stream = new Readable({
    read() {
      isWanted = true;
      flush();
    },
    destroy(error, done) {
      clearInterval(timer);
      done(error);
    },
  });

  function send(text: string) {
    rest += text;
    hasBegun = true;
    begun.resolve();
    flush();
  }

  function flush() {
    if (!isWanted || stream.destroyed) return;
    const text = (content && write('content', { text: content })) + rest;
    content = '';
    rest = '';
    if (text) isWanted = stream.push(text);
    if (isOver) stream.push(null);
  }

  return {
    addContent(text) {
      content += text;
      send('');
    },
    end(event, data) {
      clearInterval(timer);
      isOver = true;
      send(write(event, data));
    },
    begun: begun.promise,
    get hasBegun() {
      return hasBegun;
    },
    answer: (reply) =>
      reply
        .type('text/event-stream; charset=utf-8')
        .header('cache-control', 'no-store, no-transform')
        .header('x-accel-buffering', 'no')
        .send(stream),
    drop: () => stream.destroy(),
  };
}

const write = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
