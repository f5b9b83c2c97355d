import { type Static, Type } from '@sinclair/typebox';
import { stringEnum, Uuid } from '../primitives.ts';
import { ChannelKind } from './channels.ts';

/** Why a channel gets nothing: it is switched off, it failed, or its address is not confirmed. */
export const CHANNEL_STATES = ['on', 'off', 'failed', 'unconfirmed'] as const;

/** What forms and pages say of a channel that a task or the settings name. */
export const ChannelChoice = Type.Object({
  id: Uuid,
  name: Type.String(),
  kind: ChannelKind,
  state: stringEnum(CHANNEL_STATES),
});
export type ChannelChoice = Static<typeof ChannelChoice>;
