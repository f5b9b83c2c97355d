import type { Channel } from '@carillon/contract/channels/channels';
import { renderFate } from '../../components/fates.ts';
import type { Html } from '../../html.ts';
import { renderState } from '../webhooks/states.ts';

/** An address without a confirmation gets nothing, so the channel is not on. */
export const renderChannelState = ({ status, isConfirmed }: Pick<Channel, 'status' | 'isConfirmed'>): Html =>
  !isConfirmed && status !== 'failed' ? renderFate('waiting', 'Not confirmed') : renderState(status);
