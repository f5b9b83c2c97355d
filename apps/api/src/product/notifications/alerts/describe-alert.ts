import type { EventData } from '@carillon/contract/webhooks/events';
import type { ALERT_KINDS } from '@carillon/db';
import { describeFallback, describeMoment, getTexts, type Reader } from '@carillon/texts';

export type AlertKind = (typeof ALERT_KINDS)[number];

export type AlertContent = { [K in AlertKind]: { kind: K; data: EventData<K> } }[AlertKind];

/** Describes an alert in the language of its reader. */
export function describeAlert({ kind, data }: AlertContent, reader: Reader): { title: string; message: string } {
  const { notices, formats } = getTexts(reader.language);
  const { name } = data.task;
  switch (kind) {
    case 'task.overdue': {
      const { plannedFor, overdueMinutes } = data;
      const message = notices.overdueText(describeMoment(plannedFor, reader), overdueMinutes);
      return { title: notices.overdue(name), message };
    }
    case 'task.failing': {
      const { failuresInRow, error, errorCode, stopped, sources } = data;
      if (sources) return { title: notices.sourcesFailed(name, sources), message: notices.lastError(error) };
      if (stopped) return { title: notices.stopped(name, failuresInRow), message: notices.stoppedText(error) };
      if (errorCode === null) return { title: notices.notDone(name, failuresInRow), message: notices.lastRun(error) };
      return { title: notices.failed(name, failuresInRow), message: notices.lastError(error) };
    }
    case 'task.degraded':
      return {
        title: notices.degraded(name, data.fallbacksInRow),
        message: describeFallback(getTexts(reader.language), data.modelAttempts),
      };
    case 'task.recovered':
      return {
        title: notices.recovered(name),
        message: notices.recoveredText(describeMoment(data.since, reader), data.execution?.status === 'completed'),
      };
    case 'task.expensive': {
      const { costUsd, costAboveUsd } = data;
      const message = notices.limit(formats.money(costAboveUsd));
      return { title: notices.expensive(name, formats.money(costUsd)), message };
    }
    case 'task.slow': {
      const toSeconds = (ms: number) => `${formats.number(Number((ms / 1000).toPrecision(3)))} s`;
      const message = notices.limit(toSeconds(data.durationAboveMs));
      return { title: notices.slow(name, toSeconds(data.durationMs)), message };
    }
  }
}
