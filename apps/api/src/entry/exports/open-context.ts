import { withCachedImports } from '@carillon/runtime/cached-imports';

export const { openContext } = await withCachedImports(() => import('../open-context.ts'));
