import { requestReset } from '../../auth/password-reset.ts';
import { logOut } from '../../auth/write.ts';
import type { WebActionBuilder } from './create-web-action.ts';

export const accountActions = ({ signedIn, guest }: WebActionBuilder) => ({
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
