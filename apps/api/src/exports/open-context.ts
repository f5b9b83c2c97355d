import { withCachedImports } from '@carillon/db/cached-imports';

export const { openContext } = await withCachedImports(() => import('../open-context.ts'));
