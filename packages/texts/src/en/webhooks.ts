import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const { count, number } = formats;

export const webhooks = {
  title: 'Webhooks',
  subtitle: 'URLs that Carillon calls when something happens.',
  new: 'New webhook',
  newSubtitle: 'Notifies a program when something happens.',
  empty: 'No webhooks yet. They notify your programs about runs and tasks.',
  create: 'Create webhook',
  caption: 'Webhooks, newest first',
  webhook: 'Webhook',
  latest: 'Last 30 deliveries',
  last: 'Last delivery',
  events: 'Events',
  ofTask: <P>(task: P) => parts`Task ${task}`,
  ofSettings: <P>(link: (text: string) => P) => parts`Your ${link('settings')}`,

  url: 'URL',
  urlHint: 'Receives signed JSON by POST. It must use https and be reachable from the internet.',
  descriptionHint: 'Optional. For example: posts to #shop-ops.',
  tickOne: 'Select at least one event',
  edit: 'Edit webhook',
  save: 'Save webhook',
  saved: 'The webhook is saved.',
  conflict: 'This webhook was changed after you opened the form. Nothing is saved yet.',
  noDescription: 'none',
  managedByTask: 'This webhook belongs to a task: its URL is changed there, and its events are fixed.',
  managedBySettings: 'This webhook belongs to your settings: its URL is changed there, and its events are fixed.',
  editTask: 'Edit task',
  openSettings: 'Open settings',

  created: 'Webhook created',
  createdSubtitle: 'It is on. One step is left: give the receiver the secret.',
  createdAlready: 'Already created',
  createdAlreadyText:
    'This form was already sent, so the webhook exists. Its secret is not shown again. If you did not copy it, rotate it.',
  open: 'Open webhook',
  secret: 'Secret',
  secretOnce: 'The secret is shown only once.',
  secretCopy: 'Copy it now. Later you can only replace it.',
  nextSteps: 'Next steps',
  storeSecret: 'Give it to the receiver as a setting or an environment variable, not in its code.',
  checkHeaders: <P>(code: (text: string) => P, link: (text: string) => P) =>
    parts`Check ${code('webhook-id')}, ${code('webhook-timestamp')} and ${code('webhook-signature')} of ${link('Standard Webhooks')} in each request, over the raw body. Libraries exist for most languages, for example:`,
  example: 'Example in JavaScript',
  testIt: 'Send a test from the page of the webhook.',
  previousSecret:
    'For 24 hours, requests are also signed with the previous secret, so that nothing is lost while you change the receiver.',
  inbound: 'Run tasks from outside',
  inboundText: <P>(code: (text: string) => P) =>
    parts`A program with the secret can run your tasks with a signed ${code('POST')} of ${code('{"taskId": 1}')} to this URL, which contains the secret.`,

  rotateTitle: 'Rotate the secret?',
  rotateText: <P>(code: (text: string) => P) =>
    parts`You get a new secret, shown only once. For 24 hours ${code('webhook-signature')} is signed with both secrets. Receivers that check ${code('X-Webhook-Signature')} need the new one immediately.`,
  rotateInbound: 'The URL that runs tasks from outside changes immediately, because it contains the secret.',
  rotate: 'Rotate secret',
  rotateLink: 'Rotate secret…',
  rotated: 'New secret',
  rotatedSubtitle: (host: string) => `For the webhook to ${host}`,
  rotatedAlready: 'Already rotated',
  rotatedAlreadyText:
    'The secret was rotated after you opened the form, perhaps because the form was sent twice. The new one is not shown again. If you did not copy it, rotate it again.',
  rotateAgain: 'Rotate again…',

  titleTo: (host: string) => `Webhook to ${host}`,
  offTitle: 'The webhook is off',
  offText: 'You or a program with your key switched it off. Events are not queued while it is off.',
  waiting: (deliveries: number, isMore: boolean) =>
    deliveries === 1
      ? '1 delivery from before is sent when you switch it on.'
      : `${number(deliveries)}${isMore ? ' or more' : ''} deliveries from before are sent when you switch it on.`,
  failedTitle: 'The webhook is off: every attempt of a delivery failed',
  fix: <P>(link: (text: string) => P) =>
    parts`Repair the receiver, send a test, then switch the webhook on. Failed deliveries can be ${link('sent again')} afterwards.`,
  failed: (deliveries: number, isMore: boolean) =>
    `${number(deliveries)}${isMore ? ' or more' : ''} ${deliveries === 1 ? 'delivery' : 'deliveries'} failed`,
  switchedOff: 'The webhook is off. Events are not queued while it is off.',
  switchedOn: 'The webhook is on. Waiting deliveries are sent now; failed ones can be sent again.',
  belongsTo: 'Belongs to',
  secretUntil: (moment: string) => `The previous one also signs until ${moment}`,
  sendFailed: 'Send failed deliveries again…',

  deliveries: 'Deliveries',
  deliveriesCaption: 'Deliveries, newest first',
  event: 'Event',
  noDeliveries: 'No deliveries yet. Send a test to see one.',
  delivery: (event: string, moment: string) => `${event}, ${moment}`,
  waitsForSwitch: 'sent when the webhook is on',
  attempts: 'Attempts',
  attempt: (attempt: number, response: string) => `Attempt ${number(attempt)}: ${response}`,
  notSent: 'Not sent yet.',
  nextAttempt: (moment: string) => `Next attempt ${moment}.`,
  sameInEach: 'the same in each attempt',
  request: 'Request ID',
  body: 'Body',
  bodyCut: (shown: number, total: number) => `The first ${number(shown)} of ${number(total)} characters.`,
  bodyWhole: (total: number) =>
    `${count(total, 'character', 'characters')} of JSON. Line breaks are added here; each attempt sends the same bytes.`,
  resent: 'It is sent again now, with the same body.',

  resendTitle: 'Send failed deliveries again',
  resendOff: 'The webhook is off. Switch it on first.',
  resendText: <P>(code: (text: string) => P) =>
    parts`Each failed delivery is sent once more, with the same body and the same ${code('webhook-id')}. Failed deliveries are kept for 30 days by default.`,
  failedSince: 'Failed since',
  failedSinceHint: (timeZone: string) => `From the start of this day in ${timeZone}.`,
  resend: 'Send again',
  noneFailed: 'No delivery has failed since then.',
  resending: (deliveries: number) => `${count(deliveries, 'delivery is', 'deliveries are')} sent again.`,

  deleteTitle: 'Delete this webhook?',
  deleteText: <P>(host: P) =>
    parts`Nothing more is sent to ${host}. Waiting deliveries and the log are deleted. The URL that runs tasks from outside stops working. This cannot be undone.`,
  delete: 'Delete webhook',
  deleted: 'The webhook is deleted.',
};
