import type { ChannelKind } from '@carillon/db';
import type { Context } from '../../../context.ts';
import { CHANNEL_SENDERS } from './kinds/index.ts';
import { readMessage, type StoredPayload } from './read-message.ts';
import type { ChannelSettings, SendOutcome } from './sender.ts';

interface StoredMessage {
  /** Of the delivery. */
  id: string;
  channelId: string;
  kind: ChannelKind;
  /** As JSON. */
  settings: string;
  payload: string;
}

/** Sends a stored delivery to its channel once. Never rejects. */
export async function sendMessage(
  ctx: Context,
  { id, channelId, kind, settings, payload }: StoredMessage,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const message = readMessage(ctx, JSON.parse(payload) as StoredPayload);
  return CHANNEL_SENDERS[kind].send(ctx, JSON.parse(settings) as ChannelSettings, {
    id,
    channelId,
    message,
    ...(signal && { signal }),
  });
}
