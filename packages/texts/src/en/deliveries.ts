import { formats } from './formats.ts';

const { count, number } = formats;

/** What the pages of webhooks and channels have in common. */
export const deliveries = {
  status: 'Status',
  on: 'On',
  off: 'Off',
  offFailed: 'Off, failed',
  delivered: 'Delivered',
  deliveredLate: 'Delivered late',
  failed: 'Failed',
  sending: 'Sending',
  waiting: 'Waiting',
  held: 'Held',
  digested: 'In a digest',
  latest: (total: number, counts: readonly string[]) =>
    `Last ${count(total, 'delivery', 'deliveries')}: ${counts.join(', ')}`,
  countDelivered: (value: number) => `${number(value)} delivered`,
  countLate: (value: number) => `${number(value)} delivered late`,
  countFailed: (value: number) => `${number(value)} failed`,
  countPending: (value: number) => `${number(value)} pending`,
  nothingSent: 'nothing sent yet',

  response: 'Response',
  answered: (status: number, duration: string) => `Answered ${number(status)} in ${duration}`,
  accepted: (duration: string) => `Accepted in ${duration}`,
  noResponse: (duration: string) => `No response in ${duration}`,
  earlierAttempts: (attempts: number) => count(attempts, 'earlier attempt', 'earlier attempts'),
  nextAttempt: (moment: string) => `next attempt ${moment}`,
  lastAttempt: (moment: string, error: string) => `Last attempt ${moment}: ${error}`,
  logDeleted: 'The log of the attempts was deleted.',

  switchOn: 'Switch on',
  switchOff: 'Switch off',
  switchedOff: 'Carillon switched it off.',
  fix: 'To fix it:',
  sendTest: 'Send a test',
  sendNow: 'Send now',
  sendAgain: 'Send again',
  testDelivered: (status: number | null, duration: string) =>
    status === null
      ? `Test delivered in ${duration}.`
      : `Test delivered: the receiver answered ${number(status)} in ${duration}.`,
  testFailed: (error: string) => `Test not delivered. ${error}`,

  details: 'Details',
  description: 'Description',
  created: 'Created',
  switchOffInstead: 'To stop it for a while, switch it off instead.',
  savedVersion: 'Saved version',
  savedVersionHint: 'Saving replaces it with your changes.',
};
