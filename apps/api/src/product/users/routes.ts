import * as contract from '@carillon/contract/accounts/user-settings';
import {
  changePassword as changePasswordContract,
  confirmEmail as confirmEmailContract,
  deleteUser,
  getUser,
  patchUser,
  User,
} from '@carillon/contract/accounts/users';
import { clearSessionCookie } from '../../platform/http/credentials.ts';
import { createETag, readIfMatch, sendTagged } from '../../platform/http/etag.ts';
import { createResponseStore } from '../../platform/http/idempotency/register.ts';
import { type Routes, success } from '../../platform/http/validation.ts';
import { changePassword } from './change-password.ts';
import { type Confirmation, confirmEmail } from './confirm-email.ts';
import { deleteOwnAccount } from './delete-own-account.ts';
import { getProfile, getUserSettings } from './read.ts';
import { changeProfile, changeUserSettings } from './write.ts';

const PUBLIC = { access: 'public' } as const;
/** Not for API keys. */
const SESSION = { access: 'user' } as const;

const CONFIRMED: Record<Confirmation, string> = {
  change_approved: 'The change is approved. A link to confirm it is on its way to the new address.',
  email_changed: 'Your e-mail address is changed. Sign in with the new one from now on.',
  notifications_confirmed: 'This address is confirmed and gets notifications from now on.',
};

const buildUserETag = createETag(User);
const buildSettingsETag = createETag(contract.UserSettings);

export const usersRoutes: Routes = async (app) => {
  const read = { access: 'user', scope: 'profile:read' } as const;
  const write = { access: 'user', scope: 'profile:write' } as const;

  app.get('/api/user', { schema: getUser, config: read }, async (request, reply) => {
    const { revision, user } = await getProfile(request.ctx, request.caller);
    return sendTagged(request, reply, buildUserETag({ id: user.id, revision }, user), { success, user });
  });

  app.patch('/api/user', { schema: patchUser, config: write }, async (request, reply) => {
    const { ctx, caller, body } = request;
    const changed = await changeProfile(ctx, caller, body, { expected: readIfMatch(request, caller.id) });
    reply.header('etag', buildUserETag({ id: caller.id, revision: changed.revision }, changed.profile));
    return { success, user: changed.user };
  });

  app.delete('/api/user', { schema: deleteUser, config: SESSION }, async (request, reply) => {
    const { ctx, caller, body } = request;
    await deleteOwnAccount(ctx, caller, body, readIfMatch(request, caller.id));
    clearSessionCookie(reply, ctx.config);
    return { success, message: 'Your account and all its data are deleted.' };
  });

  app.post('/api/user/confirm-email', { schema: confirmEmailContract, config: PUBLIC }, async ({ ctx, body }) => ({
    success,
    message: CONFIRMED[await confirmEmail(ctx, body.token)],
  }));

  app.post(
    '/api/user/password',
    // Attempts are counted although they fail, and hashing is slow.
    { schema: changePasswordContract, config: { ...SESSION, idempotency: { transactions: 'own' } } },
    async (request, reply) => {
      const { ctx, caller, body } = request;
      const answer = { success, message: 'Your password is changed. All other sessions are ended.' };
      const store = createResponseStore(request, reply);
      await changePassword(ctx, caller, body, (tx) => store(tx, answer));
      return answer;
    },
  );

  app.get('/api/user/settings', { schema: contract.getUserSettings, config: read }, async (request, reply) => {
    const { ctx, caller } = request;
    const { revision, settings } = await getUserSettings(ctx, caller);
    return sendTagged(request, reply, buildSettingsETag({ id: caller.id, revision }, settings), { success, settings });
  });

  app.patch('/api/user/settings', { schema: contract.changeUserSettings, config: write }, async (request, reply) => {
    const { ctx, caller, body } = request;
    const expected = readIfMatch(request, caller.id);
    const { revision, settings } = await changeUserSettings(ctx, caller, body, expected);
    reply.header('etag', buildSettingsETag({ id: caller.id, revision }, settings));
    return { success, settings };
  });
};
