import { type ModuleHooks, type ResolveFnOutput, registerHooks } from 'node:module';

const DRIZZLE_SPECIFIER = /^drizzle-orm(\/|$)/;
const DRIZZLE_FILE = /\/node_modules\/drizzle-orm\//;
const RELATIVE_FILE = /^\.\.?\/.*\.js$/;

/** Node parses Drizzle's package.json of 180 KB for each of 250 imports. With this hook the API is imported in 0.4 s, not 0.95 s. */
export async function withCachedDrizzleImports<T>(load: () => Promise<T>): Promise<T> {
  const hooks = cacheDrizzleImports();
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}

/** As `withCachedDrizzleImports`, for all later imports of the process. */
export function cacheDrizzleImports(): ModuleHooks {
  const resolved = new Map<string, ResolveFnOutput>();
  return registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '', conditions } = context;
      if (!conditions.includes('import')) return next(specifier, context);
      if (RELATIVE_FILE.test(specifier) && DRIZZLE_FILE.test(parentURL)) {
        return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
      }
      if (!DRIZZLE_SPECIFIER.test(specifier)) return next(specifier, context);
      const found = resolved.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
      resolved.set(specifier, found);
      return found;
    },
  });
}
