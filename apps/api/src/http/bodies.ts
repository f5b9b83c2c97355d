import type { FastifyInstance, FastifyRequest } from 'fastify';

const utf8 = new TextDecoder('utf-8', { fatal: true });

type Done = (error: Error | null, value?: unknown) => void;

/**
 * Accepts JSON only, and not as `text/plain`, which any web page may send. An empty body is undefined; bytes that are
 * not UTF-8 are an error instead of being replaced.
 */
export function registerJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = createJsonParser(app);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) =>
    parse(request, bytes as Buffer, done),
  );
}

/** Leaves bodies of any type as bytes, in a plugin that checks a signature. Returns a parser like that of other routes. */
export function registerRawParser(app: FastifyInstance): (request: FastifyRequest, bytes: Buffer) => Promise<unknown> {
  app.removeAllContentTypeParsers();
  const parse = createJsonParser(app);
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  return (request, bytes) =>
    new Promise((resolve, reject) => parse(request, bytes, (error, value) => (error ? reject(error) : resolve(value))));
}

function createJsonParser(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error');
  return (request: FastifyRequest, bytes: Buffer, done: Done) => {
    let text: string;
    try {
      text = utf8.decode(bytes);
    } catch {
      done(Object.assign(new Error('The body is not UTF-8.'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY' }));
      return;
    }
    if (text.trim() === '') done(null, undefined);
    else parse(request, text, done);
  };
}
