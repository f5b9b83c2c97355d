import type * as channels from '../../channels/channels.ts';
import type * as deliveries from '../../channels/deliveries.ts';
import type { ExamplesFor } from '../example.ts';
import { channel, channelAttempt, DELIVERY, quotaExceeded, success } from '../fixtures.ts';

const params = { id: channel.id };
const { kind, name, quiet, urgent } = channel;
const settings = { url: 'https://ntfy.example.com', topic: 'morning-news' };
const NOT_FOUND = { 404: 'Channel not found' };
const NOT_ACTIVE = { 409: 'The channel is not active. Switch it on first.' };

export const channelsExamples: ExamplesFor<typeof channels> & ExamplesFor<typeof deliveries> = {
  createChannel: {
    body: { kind, name, ...settings, quiet, urgent },
    response: { 201: { success, channel } },
    errors: { 402: quotaExceeded('channels', 20, 20) },
  },
  listChannels: {
    query: { limit: 20, offset: 0 },
    response: {
      200: { success, channels: [channel], pagination: { total: 1, limit: 20, offset: 0, hasMore: false } },
    },
  },
  getChannel: { params, response: { 200: { success, channel } }, errors: NOT_FOUND },
  changeChannel: {
    params,
    body: { quiet: null },
    response: { 200: { success, channel: { ...channel, quiet: null } } },
    errors: NOT_FOUND,
  },
  deleteChannel: {
    params,
    response: { 200: { success, message: 'The channel is deleted.' } },
    errors: NOT_FOUND,
  },
  testChannel: {
    params,
    response: { 200: { success: true, delivery: { ...channelAttempt, event: 'test' } } },
    errors: { ...NOT_FOUND, 409: 'The e-mail address is not confirmed yet: open the link first.' },
  },
  listChannelLogs: {
    params,
    query: { limit: 50, offset: 0 },
    response: { 200: { success, logs: [channelAttempt], pagination: { total: 1, limit: 50, offset: 0 } } },
    errors: NOT_FOUND,
  },
  redeliverMessage: {
    params: { ...params, deliveryId: DELIVERY },
    response: { 201: { success, deliveryId: DELIVERY } },
    errors: { 404: 'Delivery not found', ...NOT_ACTIVE },
  },
};
