import { type ResolveFnOutput, registerHooks } from 'node:module';

const OF_DRIZZLE = /^drizzle-orm(\/|$)/;
const WITHIN_DRIZZLE = /\/node_modules\/drizzle-orm\//;
const BESIDE = /^\.\.?\/.*\.js$/;

/**
 * Runs `load`, which imports what imports drizzle, without having drizzle's manifest read for each of these imports:
 * Node parses it anew for every module of a package and every import of one, and the 180 KB of this one, 250 times
 * over, were a third of a start. There has to be one drizzle for all of the workspace.
 */
export async function importingDrizzle<T>(load: () => Promise<T>): Promise<T> {
  const found = new Map<string, ResolveFnOutput>();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '', conditions } = context;
      if (!conditions.includes('import')) return next(specifier, context);
      if (BESIDE.test(specifier) && WITHIN_DRIZZLE.test(parentURL)) {
        return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
      }
      if (!OF_DRIZZLE.test(specifier)) return next(specifier, context);
      const known = found.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
      found.set(specifier, known);
      return known;
    },
  });
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}
