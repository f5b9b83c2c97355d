import type { ChannelKind } from '@carillon/db';
import type { ChannelSender } from '../sender.ts';
import { apprise } from './apprise.ts';
import { discord } from './discord.ts';
import { email } from './email.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { slack } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';

/** A new kind is a file here with its tests, an entry, and its name in the contract and the schema. */
export const CHANNEL_SENDERS: Record<ChannelKind, ChannelSender> = {
  slack,
  mattermost,
  teams,
  discord,
  telegram,
  ntfy,
  apprise,
  email,
};
