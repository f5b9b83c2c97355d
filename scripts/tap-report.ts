import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Report extends Tally {
  /** The counts of each file that failed, by its path. */
  failures: Map<string, Tally>;
}

interface Subtest extends Tally {
  /** Assertions outside its own subtests. */
  asserted: number;
  broken: number;
}

interface Output {
  print(line: string): void;
  onFile(result: Result, counts: Tally): void;
}

/**
 * Reads TAP to its end, prints a line for each file and every failure in full, and counts tests: a test is a subtest
 * without subtests of its own, or the assertions of a file outside any subtest. A file that crashes, ends early or tests
 * nothing counts as one failed test more.
 */
export async function writeReport(tap: Readable, print: (line: string) => void): Promise<Report> {
  const parser = new Parser();
  const failures = new Map<string, Tally>();
  const onFile = (result: Result, counts: Tally) => {
    print(fileLine(result, counts));
    if (counts.failed > 0) failures.set(result.name, counts);
  };
  const root = countSubtest(parser, [], { print, onFile });
  const complete = new Promise<boolean>((resolve) => parser.once('complete', ({ ok }) => resolve(ok)));
  tap.pipe(parser);
  const ok = await complete;
  if (!ok && root.failed === 0) root.failed = 1;
  return { passed: root.passed, failed: root.failed, skipped: root.skipped, failures };
}

function countSubtest(parser: Parser, path: string[], output: Output): Subtest {
  const { print, onFile } = output;
  const subtest: Subtest = { passed: 0, failed: 0, skipped: 0, asserted: 0, broken: 0 };
  let child: Subtest | undefined;
  const endChild = (result?: Result) => {
    if (!child) return;
    const counts = totalCounts(child, result);
    child = undefined;
    subtest.passed += counts.passed;
    subtest.failed += counts.failed;
    subtest.skipped += counts.skipped;
    if (path.length === 0 && result) onFile(result, counts);
  };
  parser.on('child', (childParser: Parser) => {
    endChild();
    child = countSubtest(childParser, [...path, childParser.name], output);
  });
  parser.on('assert', (result: Result) => {
    if (child) return endChild(result);
    if (result.skip || result.todo) {
      subtest.skipped++;
      return;
    }
    subtest.asserted++;
    if (result.ok) return;
    subtest.broken++;
    print(failureText([...path, result.name], result.diag));
  });
  parser.on('bailout', (reason: string) => print(`Bail out! ${reason}`));
  parser.on('extra', (text: string) => {
    if (text.trim() && !/^\s*(TAP version |1\.\.\d)/.test(text)) print(text.trimEnd());
  });
  // A file that died inside a subtest never reported its end.
  parser.on('complete', () => endChild());
  return subtest;
}

function totalCounts(subtest: Subtest, result: Result | undefined): Tally {
  const { passed, failed, skipped, asserted, broken } = subtest;
  if (result?.skip || result?.todo) return { passed, failed, skipped: skipped + 1 };
  if (broken > 0 || (!result?.ok && failed === 0)) return { passed, failed: failed + 1, skipped };
  return { passed: asserted > 0 ? passed + 1 : passed, failed, skipped };
}

function fileLine({ ok, name, time, diag }: Result, { passed, failed, skipped }: Tally): string {
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
  const line = `${ok ? '✓' : '✗'} ${name} (${counts.filter(Boolean).join(', ')}, ${Math.round(time ?? 0)} ms)`;
  if (ok) return line;
  const { exitCode, signal, expired } = (diag ?? {}) as Record<string, unknown>;
  const end = expired ? `timed out: ${expired}` : signal ? `killed by ${signal}` : `exit code ${exitCode}`;
  return `${line}: ${end}`;
}

/** A failure with its place, what differs, and what else tap reports. */
function failureText(path: string[], diag: unknown): string {
  const { at, diff, stack, source, ...rest } = (diag ?? {}) as Record<string, unknown>;
  const { fileName, lineNumber } = (at ?? {}) as Record<string, unknown>;
  const parts = [
    `✗ ${path.join(' > ')}`,
    fileName ? `at ${fileName}:${lineNumber}` : undefined,
    diff,
    stack,
    Object.keys(rest).length > 0 ? inspect(rest, { depth: 8 }) : undefined,
  ];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => String(part).trimEnd())
    .join('\n')
    .replaceAll('\n', '\n    ');
}
