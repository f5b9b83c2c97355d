import { requestReset } from '../../auth/password-reset.ts';
import { logIn, logOut } from '../../auth/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const accountActions = ({ signedIn, guest }: WebActionBuilder) => ({
  signIn: guest(
    'signIn',
    async (ctx, input) => {
      const { token, expiresAt } = await logIn(ctx, input);
      return { session: token, expiresAt };
    },
    { as: 'POST /api/auth/login', duringMaintenance: true },
  ),

  signOut: signedIn('signOut', async ({ ctx, caller }) => {
    await logOut(ctx, caller);
    return null;
  }),
  requestReset: guest(
    'requestReset',
    async (ctx, input) => {
      await requestReset(ctx, input);
      return null;
    },
    { as: 'POST /api/auth/forgot-password' },
  ),
});
