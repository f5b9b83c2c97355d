import type { FastifyInstance } from 'fastify';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Takes JSON and nothing else for a body (`text/plain`, which any web page may send, is not read as JSON). An empty one
 * is no body; bytes that are not UTF-8 are refused instead of being replaced.
 */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    let text: string;
    try {
      text = utf8.decode(bytes as Buffer);
    } catch {
      done(Object.assign(new Error('The body is not UTF-8.'), { code: 'FST_ERR_CTP_INVALID_JSON_BODY' }));
      return;
    }
    if (text.trim() === '') done(null, undefined);
    else parse(request, text, done);
  });
}
