import type { FastifyInstance } from 'fastify';
import { postChannel } from '../../support/channels.ts';
import type { Person } from '../../support/people.ts';
import { postTask } from '../../support/tasks.ts';
import { postWebhook } from '../../support/webhooks.ts';

export interface Resource {
  name: string;
  url: string;
  /** Bodies of changes, each of which makes a difference. */
  changes: [object, object];
}

/** One of each kind that has ETags. */
export async function createResources(app: FastifyInstance, person: Person): Promise<Resource[]> {
  const taskId = await postTask(app, person);
  const webhook = await postWebhook(app, person);
  const channel = await postChannel(app, person);
  return [
    { name: 'task', url: `/api/tasks/${taskId}`, changes: [{ name: 'Evening news' }, { status: 'paused' }] },
    { name: 'webhook', url: `/api/webhooks/${webhook.id}`, changes: [{ description: 'Mine' }, { isActive: false }] },
    { name: 'channel', url: `/api/channels/${channel.id}`, changes: [{ name: 'Desk' }, { isActive: false }] },
    { name: 'user', url: '/api/user', changes: [{ name: 'Alicia' }, { timezone: 'Europe/Lisbon' }] },
    {
      name: 'settings',
      url: '/api/user/settings',
      changes: [{ notificationEmails: ['a@example.com'] }, { notificationPreferences: { email: false } }],
    },
  ];
}

export const readETag = async (app: FastifyInstance, { headers }: Person, url: string): Promise<string> =>
  String((await app.inject({ url, headers })).headers.etag);
