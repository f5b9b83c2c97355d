import type { FastifyInstance, FastifyRequest } from 'fastify';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
].join(';');

/** Their addresses have a secret. */
const SECRET_ADDRESS = /^\/(handler\/|setup\b)/;

/**
 * Pages are not cached, so that the back button shows nothing after the sign-out. Where the address has a secret, the referrer
 * is the origin alone: with no referrer at all, browsers would leave out the origin of forms too.
 */
export const describePageHeaders = ({ url }: Pick<FastifyRequest, 'url'>) => ({
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': SECRET_ADDRESS.test(url) ? 'strict-origin' : 'same-origin',
  'cache-control': 'no-store',
});

export function setPageHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(describePageHeaders(request));
    done();
  });
}
