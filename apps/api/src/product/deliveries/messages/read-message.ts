import type { EventData } from '@carillon/contract/webhooks/events';
import type { OutputChange } from '@carillon/db';
import { describeFallback, getTexts } from '@carillon/texts';
import type { Context } from '../../../context.ts';
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

/** Describes what a stored delivery reports. */
export function readMessage(
  { config }: Pick<Context, 'config'>,
  { event, timestamp, data, isCut = false }: StoredPayload,
): ChannelMessage {
  const base = { text: null, markdown: null, citations: [], changes: [], items: [], at: new Date(timestamp) };
  const toUrl = (path: string) => `${config.appUrl}${path}`;
  switch (event) {
    case 'execution.completed': {
      const { task, execution } = data as EventData<'execution.completed'>;
      const changes = (execution.changes ?? []) as OutputChange[];
      const isNotDone = execution.outcome === 'not_done';
      const event = isNotDone ? ': not done' : changes.length > 0 ? ': the answer changed' : '';
      return {
        ...base,
        level: isNotDone ? 'failure' : 'success',
        title: `${task.name}${event}`,
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
      return { ...base, level: 'failure', title: `${task.name}: the run failed`, text: execution.error, url };
    }
    case 'task.overdue': {
      const { task, plannedFor, overdueMinutes } = data as EventData<'task.overdue'>;
      const text = `The run planned for ${formatInstant(plannedFor)} has not ended ${overdueMinutes} minutes later.`;
      return { ...base, level: 'alert', title: `${task.name} is overdue`, text, url: toUrl(`/tasks/${task.id}`) };
    }
    case 'task.failing': {
      const { task, execution, failuresInRow, error, errorCode, stopped } = data as EventData<'task.failing'>;
      const count = failuresInRow === 1 ? '' : ` ${failuresInRow} times in a row`;
      const url = toUrl(`/executions/${execution.id}`);
      if (stopped) {
        const text = `It will not run again until you resume it. The last error: ${error}`;
        return {
          ...base,
          level: 'alert',
          title: `${task.name} was stopped after ${failuresInRow} failed runs`,
          text,
          url,
        };
      }
      const [verb, last] = errorCode === null ? ['did not do what it is for', 'run'] : ['failed', 'error'];
      const title = `${task.name} ${verb}${count}`;
      return { ...base, level: 'alert', title, text: `The last ${last}: ${error}`, url };
    }
    case 'task.recovered': {
      const { task, execution, since } = data as EventData<'task.recovered'>;
      const text = `A run has completed. The first alert was sent on ${formatInstant(since)}.`;
      const url = toUrl(`/executions/${execution.id}`);
      return { ...base, level: 'recovery', title: `${task.name} works again`, text, url };
    }
    case 'task.expensive': {
      const { task, execution, costUsd, costAboveUsd } = data as EventData<'task.expensive'>;
      const text = `The limit is $${costAboveUsd}.`;
      const title = `A run of ${task.name} cost $${Number(costUsd.toPrecision(3))}`;
      return { ...base, level: 'alert', title, text, url: toUrl(`/executions/${execution.id}`) };
    }
    case 'task.slow': {
      const { task, execution, durationMs, durationAboveMs } = data as EventData<'task.slow'>;
      const text = `The limit is ${durationAboveMs / 1000} s.`;
      const title = `A run of ${task.name} took ${Number((durationMs / 1000).toPrecision(3))} s`;
      return { ...base, level: 'alert', title, text, url: toUrl(`/executions/${execution.id}`) };
    }
    case 'task.degraded': {
      const { task, execution, fallbacksInRow, modelAttempts } = data as EventData<'task.degraded'>;
      const text = describeFallback(getTexts('en'), modelAttempts);
      const title = `${task.name} was answered by a fallback model ${fallbacksInRow} times in a row`;
      return { ...base, level: 'alert', title, text, url: toUrl(`/executions/${execution.id}`) };
    }
    case 'notification': {
      const { title, message, path } = data as NoticeData;
      return { ...base, level: 'notice', title, text: message, url: toUrl(path) };
    }
    case 'digest': {
      const { messages, leftOut = 0 } = data as DigestData;
      const items = messages.map((one) => readMessage({ config }, one));
      const title = `${items.length + leftOut} messages`;
      const text = leftOut > 0 ? `The ${items.length} most important ones are listed.` : null;
      return { ...base, level: 'notice', title, text, items, url: toUrl('/executions') };
    }
    default: {
      const text = 'This is a test message from Carillon.';
      return { ...base, level: 'notice', title: 'It works', text, url: toUrl('/channels') };
    }
  }
}

const formatInstant = (instant: Date | string) =>
  `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
