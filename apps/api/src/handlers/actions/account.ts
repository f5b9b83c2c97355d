import { ACTION_INPUTS } from '@carillon/contract/actions/index';
import { changePassword } from '../../product/users/change-password.ts';
import { changeProfile, changeUserSettings } from '../../product/users/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readInput } from './input.ts';
import { checkUrl } from './mappings.ts';

export const accountActions = ({ user }: ActionBuilder) => ({
  updateProfile: user('updateProfile', [readInput(ACTION_INPUTS.updateProfile)], async ({ ctx, caller }, input) => {
    const { user } = await changeProfile(ctx, caller, input, { proof: 'by_mail' });
    return { ...user, id: String(user.id), updatedAt: user.updatedAt.toISOString() };
  }),

  changePassword: user('changePassword', [readInput(ACTION_INPUTS.changePassword)], async ({ ctx, caller }, input) => {
    await changePassword(ctx, caller, input);
    return null;
  }),

  updateSettings: user(
    'updateSettings',
    [readInput(ACTION_INPUTS.updateSettings, 'input', { webhookUrl: checkUrl })],
    async ({ ctx, caller }, input) => {
      const { settings } = await changeUserSettings(ctx, caller, input);
      const { webhookUrl, webhookId, notificationEmails, hasModelRouterApiKey } = settings;
      return { webhookUrl, webhookId, notificationEmails, hasModelRouterApiKey };
    },
  ),
});
