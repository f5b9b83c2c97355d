import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { type Comparison, isAimMet, toRatio } from './comparison.ts';
import { canPin } from './environment/processes.ts';
import type { Options } from './options.ts';
import { formatNumber, formatSpread } from './statistics.ts';

/** What became of a measurement: its lines, or why there are none. */
export type Outcome = { name: string; about: string } & ({ comparisons: Comparison[] } | { failed: string });

export interface ReportInput extends Options {
  at: Date;
  /** PostgreSQL's version. */
  postgres: string;
  outcomes: Outcome[];
}

const NOTES = '\n## Notes\n';

/** Writes the report of a whole run. What people have written below its heading "Notes" stays. */
export function writeReport(path: string, run: ReportInput): void {
  writeFileSync(path, `${buildReport(run)}${readNotes(path)}`);
}

function readNotes(path: string): string {
  let before = '';
  try {
    before = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const at = before.indexOf(NOTES);
  return at === -1
    ? `${NOTES}\nNone yet: what limits a row that misses its aim is written here by hand.\n`
    : before.slice(at);
}

/** The report as Markdown, without the notes. */
export function buildReport({ at, postgres, outcomes, rounds, quick, largest }: ReportInput): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const place = canPin
    ? 'The server that is measured runs on one core; load, AI server and receivers on another, and PostgreSQL on whichever is free, so it shares both.'
    : 'All processes share all cores: this machine has one core or no `taskset`.';
  return [
    '# Results',
    '',
    'Written by `pnpm bench`. Carillon and its baselines run in turn, in the same run on the same machine with the same',
    'PostgreSQL (its commits are on disk); each figure is the median of the rounds, with the least and the most. The ratios',
    'count: absolute figures say more about the machine.',
    '',
    ...(quick ? ['**A quick run with tiny sizes, to see that everything works: its figures mean nothing.**', ''] : []),
    `- ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `- ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${memory} GiB of memory`,
    `- Node ${process.version}, PostgreSQL ${postgres}`,
    `- ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, tables of up to ${largest.toLocaleString('en-US')} rows`,
    `- ${place}`,
    ...outcomes.flatMap(section),
    '',
  ].join('\n');
}

const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function section(outcome: Outcome): string[] {
  const head = ['', `## ${outcome.name}`, '', `${capital(outcome.about)}.`, ''];
  if ('failed' in outcome) return [...head, `Not measured: ${outcome.failed.split('\n', 1)[0]}`];
  const notes = new Set(outcome.comparisons.flatMap(({ note }) => (note ? [`${capital(note)}.`] : [])));
  return [
    ...head,
    '| figure | Carillon | baseline | ratio | aim | met |',
    '|---|---|---|---|---|---|',
    ...outcome.comparisons.map((comparison) => `| ${toCells(comparison).join(' | ')} |`),
    ...(notes.size > 0 ? ['', ...notes] : []),
  ];
}

/** The line of a comparison, in words: as the columns of the report. */
export function toCells(comparison: Comparison): string[] {
  const { what, unit, values, baseline, aim } = comparison;
  const ratio = toRatio(comparison);
  const met = isAimMet(comparison);
  return [
    what,
    `${formatSpread(values)} ${unit}`,
    !baseline
      ? '–'
      : 'missing' in baseline
        ? `${baseline.name}: not measured, ${baseline.missing}`
        : `${baseline.name}: ${formatSpread(baseline.values)} ${unit}`,
    ratio === null ? '–' : formatNumber(ratio),
    !aim
      ? '–'
      : `${'atLeast' in aim ? '≥' : '≤'} ${formatNumber('atLeast' in aim ? aim.atLeast : aim.atMost)}${baseline ? ' ×' : ` ${unit}`}`,
    met === null ? '–' : met ? 'yes' : '**no**',
  ];
}
