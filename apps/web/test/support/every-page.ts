import type { FastifyInstance } from 'fastify';
import { listRoutes } from '../../../api/test/support/contract/conformance.ts';

/** What stands in an address for each parameter, by the pattern of the route. */
export type Parameters = Readonly<Record<string, string | number>>;

/** The patterns of all pages that a browser can open, without files. */
export const listPages = (app: FastifyInstance): string[] =>
  listRoutes(app)
    .filter(({ method, config }) => [method].flat().includes('GET') && config?.access === 'page')
    .map(({ url }) => url)
    .filter((url) => !/^\/(styles|images|scripts|fonts|manifest)\/|^\/favicon/.test(url));

/** The address of a page. Throws for a parameter without a value, so that a new page has to say which it shows. */
export const toAddress = (pattern: string, parameters: Parameters): string =>
  pattern.replaceAll(/:\w+/g, (_name, at: number) => {
    const prefix = pattern.slice(0, at);
    const value = parameters[prefix];
    if (value === undefined) throw new Error(`${pattern} needs a value after ${prefix}`);
    return String(value);
  });
