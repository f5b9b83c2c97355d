import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { canPin } from '../../../test/system/processes.ts';
import {
  type Comparison,
  findBest,
  isAimMet,
  MAX_SPREAD,
  toBaselineSpread,
  toBestRatio,
  toRatio,
} from './benchmark.ts';
import type { Options } from './options.ts';
import { readPackageVersions } from './package-versions.ts';
import { formatNumber, highest, lowest, median } from './statistics.ts';

/** The rows of a benchmark, or why it failed. */
export type Outcome = { name: string; about: string } & ({ comparisons: Comparison[] } | { failed: string });

export interface ReportInput extends Options {
  at: Date;
  /** The version of PostgreSQL. */
  postgres: string;
  outcomes: Outcome[];
}

const NOTES = '\n## Notes\n';

/** Writes the report and preserves the hand-written section "Notes" of the existing file. */
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
    ? `${NOTES}\nNone yet. Explain here by hand what limits the rows that miss their aim.\n`
    : before.slice(at);
}

/** The report as Markdown, without the notes. */
export function buildReport({ at, postgres, outcomes, rounds, quick, largest }: ReportInput): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const placement = canPin
    ? 'The measured server runs on one core; load generator, AI server and receivers run on another. PostgreSQL is not pinned and shares both.'
    : 'All processes share all cores: this machine has one core or no `taskset`.';
  return [
    '# Results',
    '',
    'Written by `pnpm bench`. Carillon and its baselines are measured alternately in one run, on the same machine and the',
    'same PostgreSQL with durable commits. Compare the ratios: absolute figures depend on the machine.',
    '',
    'Each figure is the median of the rounds; in brackets are the lowest and the highest round, the best in bold. `ratio`',
    'is the ratio of the medians, which decides whether the aim is met, and `best` the ratio of the best rounds. `varies` is',
    `the range of the baseline as a part of its median. In bold it is more than ${formatPercent(MAX_SPREAD)}: the rounds differ too much for`,
    'a reliable ratio.',
    '',
    ...(quick
      ? ['**A quick run with tiny sizes. It only proves that everything works: its figures mean nothing.**', '']
      : []),
    `- ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `- ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${memory} GiB of memory`,
    `- Node ${process.version}, PostgreSQL ${postgres}`,
    `- Packages of the baselines and the load: ${readPackageVersions()
      .map(({ name, version }) => `${name} ${version}`)
      .join(', ')}`,
    `- ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, tables of up to ${largest.toLocaleString('en-US')} rows`,
    `- ${placement}`,
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
    '| figure | Carillon | baseline | varies | ratio | best | aim | met |',
    '|---|---|---|---|---|---|---|---|',
    ...outcome.comparisons.map((comparison) => `| ${toCells(comparison).join(' | ')} |`),
    ...(notes.size > 0 ? ['', ...notes] : []),
  ];
}

/** The columns of a row. */
export function toCells(comparison: Comparison): string[] {
  const { what, unit, values, baseline, aim } = comparison;
  const met = isAimMet(comparison);
  return [
    what,
    formatRounds(comparison, values),
    formatBaseline(comparison),
    formatVariation(toBaselineSpread(comparison)),
    formatRatio(toRatio(comparison)),
    formatRatio(toBestRatio(comparison)),
    aim === undefined ? '–' : `${formatAim(aim)}${baseline ? ' ×' : ` ${unit}`}`,
    met === null ? '–' : met ? 'yes' : '**no**',
  ];
}

/** The median, then the lowest and the highest round with the best in bold. */
function formatRounds(comparison: Comparison, values: readonly number[]): string {
  const middle = formatNumber(median(values));
  if (values.length < 2) return `${middle} ${comparison.unit}`;
  const best = findBest(comparison, values);
  const [from, to] = [lowest(values), highest(values)].map((value) =>
    value === best ? `**${formatNumber(value)}**` : formatNumber(value),
  );
  return `${middle} (${from} to ${to}) ${comparison.unit}`;
}

function formatBaseline(comparison: Comparison): string {
  const { baseline } = comparison;
  if (!baseline) return '–';
  if ('missing' in baseline) return `${baseline.name}: not measured, ${baseline.missing}`;
  return `${baseline.name}: ${formatRounds(comparison, baseline.values)}`;
}

function formatVariation(variation: number | null): string {
  if (variation === null) return '–';
  return variation > MAX_SPREAD ? `**${formatPercent(variation)}**` : formatPercent(variation);
}

const formatPercent = (part: number): string => `${Math.round(part * 100)} %`;

const formatRatio = (ratio: number | null): string => (ratio === null ? '–' : formatNumber(ratio));

const formatAim = (aim: NonNullable<Comparison['aim']>): string =>
  'atLeast' in aim ? `≥ ${formatNumber(aim.atLeast)}` : `≤ ${formatNumber(aim.atMost)}`;
