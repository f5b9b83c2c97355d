import type { FastifyInstance, FastifyRequest } from 'fastify';

const utf8 = new TextDecoder('utf-8', { fatal: true });

type Done = (error: Error | null, value?: unknown) => void;

/** Accepts JSON only, because any page may send `text/plain`. An empty body is undefined, invalid UTF-8 an error. */
export function registerJsonParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = createJsonParser(app);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) =>
    parse(request, bytes as Buffer, done),
  );
}

/** Passes bodies on as bytes, for signature checks. Returns the JSON parser of the other routes. */
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
