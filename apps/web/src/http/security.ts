import type { FastifyInstance, FastifyRequest } from 'fastify';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "manifest-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
].join(';');

/** Their addresses have a secret, and their forms need no origin. */
const ONE_CLICK_ADDRESS = /^\/unsubscribe\//;

/** Their addresses have a secret. */
const SECRET_ADDRESS = /^\/(handler\/|setup\b)/;

function chooseReferrerPolicy(url: string): string {
  if (ONE_CLICK_ADDRESS.test(url)) return 'no-referrer';
  return SECRET_ADDRESS.test(url) ? 'strict-origin' : 'same-origin';
}

/**
 * Pages are not cached, so that the back button shows nothing after the sign-out. Where the address has a secret, the referrer
 * is the origin alone: with no referrer at all, browsers would omit the origin of forms too.
 */
export const describePageHeaders = ({ url }: Pick<FastifyRequest, 'url'>) => ({
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': chooseReferrerPolicy(url),
  'cache-control': 'no-store',
});

export function setPageHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(describePageHeaders(request));
    done();
  });
}
