import { formatNumber, highest, median } from '../../statistics.ts';
import type { RunSummary } from './load.ts';

export interface Round extends Pick<RunSummary, 'failed' | 'latenessMs' | 'lost' | 'doubled' | 'repeatedCalls'> {
  /** How long no commit was possible, as there was no primary or no standby to wait for. */
  failoverMs: number;
}

const COLUMNS = [
  'fault',
  'rounds',
  'failover, s',
  'requests failed for, s',
  'latest start beyond the failover, s',
  'lost',
  'doubled',
  'calls repeated',
];

/** A Markdown table with a row for each fault: medians, and in brackets the highest round. */
export function toTable(results: ReadonlyMap<string, readonly Round[]>): string {
  const rows = [...results].map(([fault, rounds]) => toCells(fault, rounds));
  return [COLUMNS, COLUMNS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function toCells(fault: string, rounds: readonly Round[]): string[] {
  const seconds = (values: number[]) =>
    `${formatNumber(median(values) / 1000)} (${formatNumber(highest(values) / 1000)})`;
  const sum = (column: 'lost' | 'doubled' | 'repeatedCalls') =>
    String(rounds.reduce((total, round) => total + round[column], 0));
  return [
    fault,
    String(rounds.length),
    seconds(rounds.map(({ failoverMs }) => failoverMs)),
    seconds(rounds.map(measureFailing)),
    formatNumber(highest(rounds.map(({ failoverMs, latenessMs }) => highest(latenessMs) - failoverMs)) / 1000),
    sum('lost'),
    sum('doubled'),
    sum('repeatedCalls'),
  ];
}

/** From the first to the last request that failed. */
function measureFailing({ failed }: Pick<Round, 'failed'>): number {
  if (failed.length === 0) return 0;
  const first = Math.min(...failed.map(({ startedAt }) => startedAt));
  return Math.max(...failed.map(({ endedAt }) => endedAt)) - first;
}
