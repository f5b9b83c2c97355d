import type { EventData } from '@carillon/contract/webhooks/events';
import type { OutputChange } from '@carillon/db';
import { getTexts, type Reader } from '@carillon/texts';
import type { Context } from '../../../context.ts';
import { type AlertContent, describeAlert } from '../../notifications/alerts/describe-alert.ts';
import type { NoticeData } from '../../notifications/queue-notices.ts';
import type { ChannelMessage } from './message.ts';

/** The data of a delivery that has what a channel held. */
export interface DigestData {
  messages: StoredPayload[];
  /** How many more there were. */
  leftOut?: number;
}

/** The body of a delivery, of which a digest has several. */
export interface StoredPayload {
  event: string;
  timestamp: string;
  data: unknown;
  /** The limit of tokens or of size cut the answer off. */
  isCut?: boolean;
}

/** Describes what a stored delivery reports, in the language of its reader. */
export function readMessage(
  { config }: Pick<Context, 'config'>,
  { event, timestamp, data, isCut = false }: StoredPayload,
  reader: Reader,
): ChannelMessage {
  const { messages: texts } = getTexts(reader.language);
  const base = { reader, text: null, markdown: null, citations: [], changes: [], items: [], at: new Date(timestamp) };
  const toUrl = (path: string) => `${config.appUrl}${path}`;
  switch (event) {
    case 'execution.completed': {
      const { task, execution } = data as EventData<'execution.completed'>;
      const changes = (execution.changes ?? []) as OutputChange[];
      const isNotDone = execution.outcome === 'not_done';
      return {
        ...base,
        level: isNotDone ? 'failure' : 'success',
        title: isNotDone ? texts.notDone(task.name) : changes.length > 0 ? texts.changed(task.name) : task.name,
        ...(isNotDone && { text: execution.outcomeReason ?? null }),
        markdown: execution.result,
        isCut,
        citations: execution.citations ?? [],
        changes,
        url: toUrl(`/executions/${execution.id}`),
      };
    }
    case 'execution.failed': {
      const { task, execution } = data as EventData<'execution.failed'>;
      const url = toUrl(`/executions/${execution.id}`);
      return { ...base, level: 'failure', title: texts.failed(task.name), text: execution.error, url };
    }
    case 'task.overdue':
    case 'task.failing':
    case 'task.recovered':
    case 'task.expensive':
    case 'task.slow':
    case 'task.degraded': {
      const alert = { kind: event, data } as AlertContent;
      const { title, message } = describeAlert(alert, reader);
      const level = event === 'task.recovered' ? 'recovery' : 'alert';
      const execution = 'execution' in alert.data ? alert.data.execution : null;
      const path = execution === null ? `/tasks/${alert.data.task.id}` : `/executions/${execution.id}`;
      return { ...base, level, title, text: message, url: toUrl(path) };
    }
    case 'notification': {
      const { title, message, path } = data as NoticeData;
      return { ...base, level: 'notice', title, text: message, url: toUrl(path) };
    }
    case 'digest': {
      const { messages, leftOut = 0 } = data as DigestData;
      const items = messages.map((one) => readMessage({ config }, one, reader));
      const title = texts.digestTitle(items.length + leftOut);
      const text = leftOut > 0 ? texts.digestText(items.length) : null;
      return { ...base, level: 'notice', title, text, items, url: toUrl('/executions') };
    }
    default:
      return { ...base, level: 'notice', title: texts.test, text: texts.testText, url: toUrl('/channels') };
  }
}
