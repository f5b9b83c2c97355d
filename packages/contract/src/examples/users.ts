import type * as settings from '../accounts/user-settings.ts';
import type * as users from '../accounts/users.ts';
import type { ExamplesFor } from './example.ts';
import { alice, NOW, success, WEBHOOK } from './fixtures.ts';

const ownSettings = {
  email: alice.email,
  pendingEmail: null,
  language: 'en' as const,
  notificationPreferences: { email: true, webhook: true },
  webhookUrl: 'https://hooks.example.com/alice',
  webhookId: WEBHOOK,
  notificationEmails: ['team@example.com'],
  unconfirmedEmails: ['team@example.com'],
  channels: [],
  hasModelRouterApiKey: false,
};

export const usersExamples: ExamplesFor<typeof users> & ExamplesFor<typeof settings> = {
  getUser: { response: { 200: { success, user: alice } } },
  patchUser: {
    body: { name: 'Alice A.', timezone: 'Europe/Lisbon' },
    response: {
      200: { success, user: { id: alice.id, name: 'Alice A.', timezone: 'Europe/Lisbon', updatedAt: NOW } },
    },
    errors: { 409: 'This e-mail address is already registered.' },
  },
  deleteUser: {
    body: { currentPassword: 'correct-Horse-7' },
    response: { 200: { success, message: 'Your account and all its data are deleted.' } },
    errors: { 409: 'This is the last active admin.' },
  },
  confirmEmail: {
    body: { token: '5f1d7a9c3e8b2046'.repeat(4) },
    response: { 200: { success, message: 'Your e-mail address is changed. Sign in with the new one from now on.' } },
    errors: {
      400: {
        success: false,
        error: 'This link is not valid: it was used, replaced by a newer one, or is older than an hour.',
      },
      409: 'This e-mail address is already registered.',
    },
  },
  changePassword: {
    body: { currentPassword: 'correct-Horse-7', newPassword: 'battery-Staple-8' },
    response: { 200: { success, message: 'Your password is changed. All other sessions are ended.' } },
    errors: { 409: 'This account has no password yet. Ask for a link by mail to choose one.' },
  },
  getUserSettings: { response: { 200: { success, settings: ownSettings } } },
  changeUserSettings: {
    body: { webhookUrl: ownSettings.webhookUrl, notificationEmails: ownSettings.notificationEmails },
    response: { 200: { success, settings: ownSettings } },
    errors: { 409: 'This e-mail address is already registered.' },
  },
};
