import type { ChannelKind } from '@carillon/db';
import type { ChannelSender } from '../sender.ts';
import { apprise } from './apprise.ts';
import { email } from './email.ts';
import { ntfy } from './ntfy.ts';
import { telegram } from './telegram.ts';

/** A new kind is a file here with its tests, an entry, and its name in the contract and the schema. */
export const CHANNEL_SENDERS: Partial<Record<ChannelKind, ChannelSender>> = {
  telegram,
  ntfy,
  apprise,
  email,
};
