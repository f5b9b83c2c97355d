import type { Static, TSchema } from '@sinclair/typebox';
import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify';
import type { Context } from '../context.ts';

/** Handlers see the static types of the contract's schemas. */
export interface ContractTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
}

/**
 * The routes of one resource: a Fastify plugin, registered in `app.ts` as `app.register(tasksRoutes, { ctx })`.
 * Each route takes one operation of the contract as its `schema` and one word of `access` in its `config`.
 */
export type Routes = FastifyPluginAsync<{ ctx: Context }, RawServerDefault, ContractTypes>;

/** The Fastify instance that `Routes` are given. */
export type App = Parameters<Routes>[0];
