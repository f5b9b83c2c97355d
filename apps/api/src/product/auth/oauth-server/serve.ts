import type { Context } from '../../../context.ts';
import type { Config } from '../../../lib/config/config.ts';
import { inTransaction } from '../../../transaction.ts';
import type { OAuthClient } from './clients.ts';
import type { Consent, Library, LibraryAnswer, LibraryRequest } from './library-call.ts';

const libraries = new WeakMap<Config, Promise<Library>>();

/** Loaded with the first request: the library takes a quarter of a second and 11 MB. */
function loadLibrary(config: Config): Promise<Library> {
  const loading = libraries.get(config) ?? import('./provider.ts').then(({ createLibrary }) => createLibrary(config));
  libraries.set(config, loading);
  return loading;
}

/** Passes a request to the library in one transaction, which is repeated after a deadlock. */
export async function askLibrary(
  ctx: Context,
  { client, consent = null }: { client: OAuthClient | null; consent?: Consent | null },
  request: LibraryRequest,
): Promise<LibraryAnswer> {
  const library = await loadLibrary(ctx.config);
  return inTransaction(ctx, (tx) => library({ ctx: tx, client, consent }, request));
}
