import { formats } from './formats.ts';

/** What forms say about themselves. */
export const forms = {
  save: 'Save',
  cancel: 'Cancel',
  apply: 'Apply',
  edit: 'Edit',
  delete: 'Delete…',
  copied: 'I have copied it',
  copy: 'Copy',
  isCopied: 'Copied',
  correct: (count: number) => `Correct ${formats.count(count, 'field', 'fields')}.`,
  tooManyAttempts: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  notSent: 'Not sent',
  signInFirst:
    'Your session has ended, and nothing was changed. What you typed is kept here: sign in, then come back to this tab and send it again.',
  filesNotKept: (names: string) => `Too large to keep: ${names}. Attach again.`,
  sendNow: 'You are signed in again. Send what you typed, or close this page to drop it.',
  sendAgain: 'Send again',
  notAccepted: 'Form not accepted',
  cookieLost: (help: string) => `Your browser did not send a cookie back. ${help}`,
  outdated: 'The form is out of date or comes from another site. Go back, reload the page and send it again.',
  otherOrigin: (origin: string) =>
    `The form comes from another address than ${origin}, where Carillon runs. Open Carillon there and try again.`,
  allowCookies: (origin: string) => `Allow cookies for this site, and open Carillon at ${origin}.`,
  cookiesNeedHttps:
    'Over http, browsers keep the cookies of Carillon on localhost only. Open Carillon over https, or set COOKIE_SECURE=false to try it out.',
};
