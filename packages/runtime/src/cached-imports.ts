import { type ModuleHooks, type ResolveFnOutput, registerHooks } from 'node:module';

const RELATIVE_FILE = /^\.\.?\/.*(\.\w+)$/;
const PACKAGE = /^file:.*\/(?:node_modules\/(?:@[^/]+\/)?|apps\/|packages\/)[^/]+\//;

/**
 * For each import Node looks for the file, and parses Drizzle's package.json of 180 KB for 250 of them. With this hook
 * the API is imported in half of the time.
 */
export async function withCachedImports<T>(load: () => Promise<T>): Promise<T> {
  const hooks = cacheImports();
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}

function cacheImports(): ModuleHooks {
  /** What packages import by name, by the package that imports and the name. */
  const named = new Map<string, ResolveFnOutput>();
  /** Files with the same ending in the same folder have the same format. */
  const formats = new Map<string, string>();
  return registerHooks({
    resolve(specifier, context, next) {
      const { parentURL = '', conditions } = context;
      if (!parentURL.startsWith('file:') || !conditions.includes('import')) return next(specifier, context);
      const [, ending] = RELATIVE_FILE.exec(specifier) ?? [];
      if (ending) {
        const { href } = new URL(specifier, parentURL);
        const kind = `${href.slice(0, href.lastIndexOf('/'))} ${ending}`;
        const format = formats.get(kind);
        if (format) return { url: href, format, shortCircuit: true };
        const found = next(specifier, context);
        if (found.format) formats.set(kind, found.format);
        return found;
      }
      const importer = PACKAGE.exec(parentURL)?.[0];
      if (!importer || specifier.startsWith('.')) return next(specifier, context);
      const key = `${importer} ${specifier}`;
      const found = named.get(key) ?? { ...next(specifier, context), shortCircuit: true };
      named.set(key, found);
      return found;
    },
  });
}
