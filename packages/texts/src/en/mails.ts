import { formats } from './formats.ts';

export interface Mail {
  subject: string;
  text: string;
}

const NOT_YOU =
  'Not you? Someone else is signed in to your account. Change your password now: that signs out all other sessions and\nmakes the link invalid.';

/** Mails about an account, and what surrounds the others. */
export const mails = {
  resetPassword: (link: string): Mail => ({
    subject: 'Reset your password',
    text: `Hello,

a password reset was requested for your Carillon account. Open this link within an hour:

${link}

Not you? Ignore this mail: your password stays the same.
`,
  }),

  passwordReset: (keys: 'kept' | 'deleted' | 'none'): Mail => ({
    subject: 'Your password was changed',
    text: `Hello,

the password of your Carillon account was changed, and all sessions were signed out.${KEYS[keys]}

Not you? Someone else can read your mail. Secure your mailbox first, then reset your password.
`,
  }),

  passwordChanged: (): Mail => ({
    subject: 'Your password was changed',
    text: `Hello,

the password of your Carillon account was changed, and all other sessions were signed out.

Not you? Reset your password now: that signs out all sessions.
API keys still work. Delete those that you do not know.
`,
  }),

  appConnected: (name: string, host: string, address: string): Mail => ({
    subject: 'An app was connected',
    text: `Hello,

${name} (${host}) was connected to your Carillon account.

Not you? Disconnect it at ${address} and change your password now.
`,
  }),

  keyCreated: (name: string, prefix: string, scopes: readonly string[]): Mail => ({
    subject: 'An API key was created',
    text: `Hello,

an API key was created for your Carillon account: "${name}". It starts with ${prefix} and has the scopes
${formats.list(scopes)}.

Not you? Delete the key and change your password now.
`,
  }),

  emailChangeRequested: (email: string): Mail => ({
    subject: 'Your account is about to get a new e-mail address',
    text: `Hello,

the e-mail address of your Carillon account is about to change to ${email}. It changes when the link that was sent
there is opened.

${NOT_YOU}
`,
  }),

  approveEmail: (email: string, link: string): Mail => ({
    subject: 'Approve the new e-mail address of your account',
    text: `Hello,

a change of the e-mail address of your Carillon account to ${email} was requested. To approve it, open this link
within an hour:

${link}

The new address then gets a confirmation link.

${NOT_YOU}
`,
  }),

  confirmEmail: (link: string): Mail => ({
    subject: 'Confirm the e-mail address of your account',
    text: `Hello,

this is the new e-mail address of a Carillon account. To confirm it, open this link within an hour:

${link}

Not you? Ignore this mail: nothing changes.
`,
  }),

  emailChanged: (): Mail => ({
    subject: 'The e-mail address of your account was changed',
    text: `Hello,

your Carillon account has a new e-mail address. You can no longer sign in with this one, and it gets no more mail about
the account. Password links that were sent here are invalid.

Not you? Someone else is signed in to your account. Ask the people who run this service for help.
`,
  }),

  factorAdded: (name: string): Mail => ({
    subject: 'A second factor was added',
    text: `Hello,

your Carillon account has a new second factor: "${name}". Signing in with the password asks for a second factor.

Not you? Someone else is signed in to your account. Change your password now, and delete that factor.
`,
  }),

  factorRemoved: (name: string): Mail => ({
    subject: 'A second factor was removed',
    text: `Hello,

"${name}" is no longer a second factor of your Carillon account.

Not you? Someone else is signed in to your account. Change your password now.
`,
  }),

  recoveryCodeUsed: (left: number): Mail => ({
    subject: 'A recovery code was used',
    text: `Hello,

someone used a recovery code of your Carillon account as the second factor. Codes left: ${left}.

Not you? Someone else has your password and your codes. Change the password, and create new codes.
Did you lose your device? Delete its factor in the settings, and add a new one.
`,
  }),

  recoveryCodesCreated: (): Mail => ({
    subject: 'The recovery codes were replaced',
    text: `Hello,

your Carillon account has new recovery codes. The earlier ones no longer work.

Not you? Someone else is signed in to your account. Change your password now, and create new codes.
`,
  }),

  factorsReset: (): Mail => ({
    subject: 'The second factors of your account were reset',
    text: `Hello,

the people who run this service removed all second factors of your Carillon account and signed out all sessions. Sign
in with your password, and add a new factor.

You did not ask for this? Ask the people who run this service.
`,
  }),

  confirmAddress: (account: string, link: string): Mail => ({
    subject: 'Confirm that you want this mail',
    text: `Hello,

the Carillon account ${account} wants to send notifications or answers to this address. To allow that, open this link
within an hour:

${link}

Not you? Ignore this mail: nothing else is sent here.
`,
  }),

  /** Why a person gets a notification by mail. */
  ownFooter: 'You get this mail as the owner of a Carillon account. Change it in the settings.',
  addressFooter: (account: string) =>
    `You get this mail because the Carillon account ${account} sends its notifications to this address.`,
  taskFooter: (account: string) =>
    `You get this mail because the Carillon account ${account} sends the alerts of this task to this address.`,
};

const KEYS = {
  kept: '\nAPI keys still work. Delete those that you do not know.',
  deleted: '\nIts API keys were deleted: the e-mail address was not verified, and someone else may have created them.',
  none: '',
};
