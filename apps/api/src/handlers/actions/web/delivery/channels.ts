import { deleteChannel } from '../../../../product/deliveries/channels/delete.ts';
import {
  getChannelForForm,
  listChannelOverviews,
  showChannel,
} from '../../../../product/deliveries/channels/overview.ts';
import { ownChannel } from '../../../../product/deliveries/channels/read.ts';
import { testChannel } from '../../../../product/deliveries/channels/test-channel.ts';
import { changeChannel, createChannel } from '../../../../product/deliveries/channels/write.ts';
import { redeliver } from '../../../../product/deliveries/queue/redeliver.ts';
import type { WebActionBuilder } from '../create-web-action.ts';

export const channelActions = ({ signedIn }: WebActionBuilder) => ({
  listChannels: signedIn('listChannels', async ({ ctx, caller }) => listChannelOverviews(ctx, caller)),
  getChannel: signedIn('getChannel', async ({ ctx, caller }, { id }) => getChannelForForm(ctx, caller, id)),
  showChannel: signedIn('showChannel', async ({ ctx, caller }, query) => showChannel(ctx, caller, query)),
  createChannel: signedIn('createChannel', async ({ ctx, caller }, { id, ...input }) => {
    const { status, isConfirmed } = await createChannel(ctx, caller, input, id);
    return { id, status, isConfirmed };
  }),
  changeChannel: signedIn('changeChannel', async ({ ctx, caller }, { id, revision, ...input }) => {
    const expected = revision === undefined ? null : [revision];
    const { status, isConfirmed } = await changeChannel(ctx, caller, id, input, expected);
    return { id, status, isConfirmed };
  }),
  deleteChannel: signedIn('deleteChannel', async ({ ctx, caller }, { id }) => {
    await deleteChannel(ctx, caller, id);
    return null;
  }),
  testChannel: signedIn(
    'testChannel',
    async ({ ctx, caller }, { id }) => (await testChannel(ctx, caller, id)).delivery,
  ),
  redeliverMessage: signedIn('redeliverMessage', async ({ ctx, caller }, { id, deliveryId }) => {
    await redeliver(ctx, ownChannel(caller, id), deliveryId);
    return null;
  }),
});
