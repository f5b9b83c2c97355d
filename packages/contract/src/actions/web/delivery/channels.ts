import { Type } from '@sinclair/typebox';
import { ChangeChannelInput, CreateChannelInput } from '../../../channels/channels.ts';
import { Cursor, strictObject, Uuid } from '../../../primitives.ts';
import { userAction } from '../define.ts';

const ChannelId = { id: Uuid };

export const channelActions = {
  listChannels: userAction(strictObject({})),
  getChannel: userAction(strictObject(ChannelId)),
  showChannel: userAction(strictObject({ ...ChannelId, cursor: Type.Optional(Cursor) })),
  createChannel: userAction(
    strictObject({
      id: Type.String({
        format: 'uuid',
        description: 'Chosen by the form: sending it twice creates one channel',
      }),
      ...CreateChannelInput.properties,
    }),
  ),
  changeChannel: userAction(
    strictObject({
      ...ChannelId,
      revision: Type.Optional(Type.Integer({ description: 'The one that the change starts from' })),
      ...ChangeChannelInput.properties,
    }),
  ),
  deleteChannel: userAction(strictObject(ChannelId)),
  testChannel: userAction(strictObject(ChannelId)),
  redeliverMessage: userAction(strictObject({ ...ChannelId, deliveryId: Uuid })),
};
