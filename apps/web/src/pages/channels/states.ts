import type { Channel } from '@carillon/contract/channels/channels';
import type { Texts } from '@carillon/texts';
import { renderOutcome } from '../../components/status-icon.ts';
import type { Html } from '../../html.ts';
import { renderState } from '../webhooks/states.ts';

/** An address without a confirmation gets nothing, so the channel is not on. */
export const renderChannelState = (
  texts: Texts,
  { status, isConfirmed }: Pick<Channel, 'status' | 'isConfirmed'>,
): Html =>
  !isConfirmed && status !== 'failed'
    ? renderOutcome('waiting', texts.channels.notConfirmed)
    : renderState(texts, status);
