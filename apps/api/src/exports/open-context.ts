import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';

export const { openContext } = await withCachedDrizzleImports(() => import('../open-context.ts'));
