import type { PreviewSourcesInput } from '@carillon/contract/tasks/sources';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Caller, Context } from '../../context.ts';
import { SOURCE_PREVIEWS, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { checkSources } from './check-sources.ts';
import { readSource } from './read-source.ts';

const MAX_TEXT = 4000;

/** Reads the sources, and stores nothing. Throws 400, 429. */
export async function previewSources(ctx: Context, caller: Caller, input: PreviewSourcesInput) {
  const sources = await checkSources(ctx, caller, input.sources);
  await assertRateLimit(ctx, SOURCE_PREVIEWS, userKey(SOURCE_PREVIEWS, caller.id));
  return Promise.all(
    sources.map(async (source) => {
      const { name } = source;
      const result = await readSource(ctx, caller.id, source);
      if (result.status !== 'ok') {
        const message = result.status === 'failed' ? result.message : null;
        return { name, ok: false, contentType: null, title: null, text: null, bytes: null, message };
      }
      const { contentType, title, text, bytes } = result;
      return { name, ok: true, contentType, title, text: toStorableText(text, MAX_TEXT), bytes, message: null };
    }),
  );
}
