import type { Caller } from '../context.ts';

/** Who may call a route; a route without the word does not boot. */
export type Access = 'public' | 'user' | 'cron' | 'admin';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    /** The signed-in user; set before the handler of every `user` and `admin` route. */
    caller: Caller;
  }
}
