import type { PageRoutes } from '../../http/routes.ts';
import { confirmChannel, redeliverMessage, switchChannel, testChannel } from './buttons.ts';
import { deleteChannel, showDeleteChannel } from './delete.ts';
import { changeChannel, showEditChannel } from './edit.ts';
import { showChannels } from './list.ts';
import { createChannel, showNewChannel } from './new.ts';
import { showChannel } from './show.ts';

export function channelPages({ user }: PageRoutes): void {
  user('GET', '/channels', showChannels);
  user('GET', '/channels/new', showNewChannel);
  user('POST', '/channels/new', createChannel);
  user('GET', '/channels/:id', showChannel);
  user('GET', '/channels/:id/edit', showEditChannel);
  user('POST', '/channels/:id/edit', changeChannel);
  user('POST', '/channels/:id/switch', switchChannel);
  user('POST', '/channels/:id/confirm', confirmChannel);
  user('POST', '/channels/:id/test', testChannel);
  user('GET', '/channels/:id/delete', showDeleteChannel);
  user('POST', '/channels/:id/delete', deleteChannel);
  user('POST', '/channels/:id/deliveries/:deliveryId/redeliver', redeliverMessage);
}
