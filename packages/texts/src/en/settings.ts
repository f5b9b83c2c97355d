import { parts } from '../parts.ts';
import { formats } from './formats.ts';

/** The settings of an account, with its sessions, export and deletion. */
export const settings = {
  title: 'Settings',
  subtitle: 'Your account and this browser.',
  sections: {
    profile: 'Profile',
    notifications: 'Notifications',
    security: 'Security',
    aiKey: 'AI key',
    keys: 'API keys',
    secrets: 'Secrets',
    apps: 'Connected apps',
    data: 'Data',
  },

  profile: 'Profile',
  profileHint: 'Times are shown in your time zone, and new tasks use it.',
  profileSaved: 'Your profile is saved.',

  language: 'Language',
  languageHint: 'Of pages, mails, chat messages, alerts and notifications.',

  theme: 'Theme',
  themeHint: 'For this browser only.',
  themes: { system: 'System', light: 'Light', dark: 'Dark' },

  notifications: 'Notifications',
  notificationsHint: 'For finished runs and usage alerts. The Notifications page lists all of them.',
  byEmail: (email: string) => `By e-mail to ${email}`,
  moreEmails: 'More e-mail addresses',
  moreEmailsHint: 'One per line, up to 10. Each address must confirm first.',
  unconfirmedEmails: (emails: string) =>
    `Not confirmed yet: ${emails}. Save to send a new link once the last one is an hour old.`,
  byWebhook: 'By webhook',
  webhookUrl: 'Webhook URL',
  webhookHint: 'Leave empty for none.',
  webhookLink: 'Secret and deliveries',
  byChannel: 'By channel',
  channelsHint: <P>(link: (text: string) => P) =>
    parts`For account messages. Each task has separate channels. ${link('Manage channels')}`,
  channelMissing: 'One of these channels no longer exists. Choose again',
  notificationsSaved: 'Your notification settings are saved.',

  aiKey: 'AI provider key',
  aiKeyHint: 'With your key, tasks run on your provider account. The key is stored encrypted and never shown.',
  ownKey: 'Your tasks use your key.',
  sharedKey: 'Your tasks use the key of this server.',
  key: 'Key',
  newKey: 'New key',
  saveKey: 'Save key',
  removeKey: 'Remove key',
  keyRequired: 'is required',
  aiKeySaved: 'Your AI provider key is updated. New runs use it.',
  aiKeyRemoved: 'Your AI provider key is removed. New runs use the key of this server.',

  email: 'E-mail address',
  emailHint: 'You sign in with it. A new address takes effect once you open the link in a mail sent there.',
  emailPending: <P>(email: P) => parts`Open the link in the mail to ${email} within an hour to change your address.`,
  cancelEmailChange: 'Cancel change',
  currentEmail: 'Current address',
  newEmail: 'New address',
  approveEmailFirst: 'Your current address gets a link to approve the change first.',
  changeEmail: 'Change address',
  emailSaved: 'Your request is saved. If the address changes, check your e-mail for a link.',

  passwordHint: 'A new password ends all other sessions. API keys keep working.',
  noPassword: 'You sign in with a provider and have no password. We can e-mail you a link to set one.',
  currentPassword: 'Current password',
  passwordSaved: 'Your password is changed, and all other sessions are ended.',
  passwordLinkSent: 'We sent you a link to set a password.',

  coupon: 'Coupon',
  couponHint: 'A code extends your trial.',
  trial: 'Trial',
  trialWithoutEnd: 'No end date',
  trialEnds: <P>(moment: P) => parts`Ends ${moment}`,
  trialEnded: <P>(moment: P) => parts`Ended ${moment}`,
  code: 'Code',
  useCoupon: 'Use coupon',
  couponUsed: 'Coupon used. Your trial is extended.',

  feed: 'Feed',
  feedHint: 'The answers of all tasks as an Atom feed. Each task page offers one for that task.',

  inbound: 'Inbound URL',
  inboundHint: 'Other systems start your tasks with a signed POST request.',
  inboundSecret: <P>(link: (text: string) => P) =>
    parts`Replace SECRET with the secret of one of ${link('your webhooks')}, which also signs the request. Each webhook has a different URL.`,

  export: 'Export',
  exportHint: 'Your Carillon data in one file.',
  exportTitle: 'Export account',
  exportText:
    'A JSON file with your profile, settings, tasks, proposed tasks, runs and answers, alerts, notifications and usage, and the names of your files, webhooks and keys.',
  exportLimits: <P>(link: (text: string) => P) =>
    parts`The file contains no secrets and no content of your ${link('files')}. With many runs, this takes a while.`,

  deletion: 'Delete account',
  deletionHint: 'Permanently, with its tasks, runs, files and keys.',
  deletionText: 'Permanently deletes your tasks, runs, files, webhooks and keys.',
  confirmDeletion: (email: string) => `Type ${email} to confirm`,
  wrongEmail: 'is not the address of this account',
  oldSession: 'This session is older than 15 minutes. Sign out, sign in with your provider, then delete the account.',
  accountDeleted: 'Your account and all its data are deleted.',

  sessions: 'Sessions',
  sessionsText: 'Browsers and programs that are signed in to your account.',
  sessionsCaption: 'Your sessions, last used first',
  browser: 'Browser',
  ipAddress: 'IP address',
  lastUsed: 'Last used',
  signedIn: 'Signed in',
  thisSession: 'this one',
  unknownIp: 'unknown IP address',
  unknownProgram: 'Unknown program',
  browserOn: (browser: string, system: string) => `${browser} on ${system}`,
  programIn: (language: string) => `${language} program`,
  end: 'End',
  endSession: (browser: string, ip: string) => `End the session of ${browser}, ${ip}`,
  endOthers: 'End all others',
  sessionsHint: <P>(link: (text: string) => P) =>
    parts`A session ends after 7 days. The eleventh sign-in ends the oldest one. See one that is not yours? End it, then ${link('change your password')}. Ending all others, and a new password, also disconnect your apps.`,
  sessionEnded: 'The session is ended.',
  sessionMissing: 'This session has already ended.',
  noOtherSessions: 'There is no other session.',
  sessionsEnded: (sessions: number) => `${formats.count(sessions, 'session', 'sessions')} ended.`,
};
