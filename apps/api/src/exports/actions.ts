import { withCachedDrizzleImports } from '@carillon/db/drizzle-imports';

export type { ActionData, ActionError, ActionInput, ActionResult, Actions } from '@carillon/contract/actions/index';

// Imported statically, Drizzle takes a second and 200 MB more.
export const { buildActions } = await withCachedDrizzleImports(() => import('../actions/build.ts'));
