import { withCachedImports } from '@carillon/runtime/cached-imports';
import type * as Declared from '../../../types/actions.d.ts';
import { parseSessionCookie } from '../../platform/http/credentials.ts';

// Imported statically, Drizzle takes a second and 200 MB more.
export const { buildActions } = await withCachedImports(() => import('../../handlers/actions/build.ts'));

// The package declares them in types/actions.d.ts, which says what they do.
export const openActions: typeof Declared.openActions = async (env) => {
  const [{ loadConfig }, { openContext }, { serializeSession }, { createSessionTokens }] = await Promise.all([
    import('../../lib/config/config.ts'),
    import('./open-context.ts'),
    import('../../handlers/actions/sessions.ts'),
    import('../../product/auth/tokens.ts'),
  ]);
  const config = loadConfig(env);
  const { ctx, close } = await openContext(config);
  ctx.tokens = await createSessionTokens(config);
  return { actions: buildActions(ctx), serializeSession: (session) => serializeSession(config, session), close };
};

export const readSession: typeof Declared.readSession = (cookieHeader) => parseSessionCookie(cookieHeader ?? undefined);

export const unwrap: typeof Declared.unwrap = (result) => {
  if (!result.success) throw new ActionFailure(result);
  return result.data;
};

export class ActionFailure extends Error implements Declared.ActionFailure {
  override readonly name = 'ActionFailure';
  readonly code: Declared.ActionErrorCode;
  readonly result: Declared.ActionError;

  constructor(result: Declared.ActionError) {
    const fields = result.error === 'Validation error' && 'details' in result ? Object.entries(result.details) : [];
    super([result.error, ...fields.map(([field, messages]) => `${field} ${messages.join(', ')}`)].join(': '));
    this.code = result.code ?? 'VALIDATION_ERROR';
    this.result = result;
  }
}
