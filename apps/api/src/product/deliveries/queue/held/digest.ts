import type { EventData } from '@carillon/contract/webhooks/events';
import { cutText } from '../../messages/format/cut-text.ts';
import type { DigestData, StoredPayload } from '../../messages/read-message.ts';

/** The messages that a digest has at most. The rest is counted. */
export const MAX_MESSAGES = 100;
const MAX_RESULT = 4000;
const MAX_CHANGES = 20;

/** The body of a digest of stored bodies, oldest first, without the ends of long answers. */
export function buildDigest(payloads: readonly string[], leftOut: number, at: Date): string {
  const messages = payloads.map((payload) => shorten(JSON.parse(payload) as StoredPayload));
  const data: DigestData = { messages, ...(leftOut > 0 && { leftOut }) };
  return JSON.stringify({ event: 'digest', timestamp: at.toISOString(), data });
}

function shorten({ event, timestamp, data, isCut }: StoredPayload): StoredPayload {
  if (event !== 'execution.completed') return { event, timestamp, data };
  const { task, execution } = data as EventData<'execution.completed'>;
  const { output: _output, result, changes, ...rest } = execution;
  const cut = {
    ...rest,
    result: result === null ? null : cutText(result, MAX_RESULT),
    ...(changes && { changes: changes.slice(0, MAX_CHANGES) }),
  };
  return { event, timestamp, data: { task, execution: cut }, ...(isCut && { isCut }) };
}
