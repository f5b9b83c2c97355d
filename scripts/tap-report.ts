import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

/** What a whole run comes to. */
export interface Report extends Tally {
  /** By the path of each file that failed what there was in it; what tap itself did is in none. */
  failures: Map<string, Tally>;
}

interface Branch extends Tally {
  /** Assertions outside any subtest. */
  asserted: number;
  broken: number;
}

/**
 * Reads TAP to its end, prints a line for each file and the whole of each failure, and counts tests: a test is a
 * subtest without subtests of its own, or a file's assertions outside any. A file that crashes, ends early or tests
 * nothing is a failed test besides those that it ran.
 */
export async function report(tap: Readable, print: (line: string) => void): Promise<Report> {
  const parser = new Parser();
  const failures = new Map<string, Tally>();
  const onFile = (result: Result, sum: Tally) => {
    print(fileLine(result, sum));
    if (sum.failed > 0) failures.set(result.name, sum);
  };
  const root = follow(parser, [], { print, onFile });
  const complete = new Promise<boolean>((resolve) => parser.once('complete', ({ ok }) => resolve(ok)));
  tap.pipe(parser);
  const ok = await complete;
  if (!ok && root.failed === 0) root.failed = 1;
  return { passed: root.passed, failed: root.failed, skipped: root.skipped, failures };
}

interface Told {
  print(line: string): void;
  onFile(result: Result, sum: Tally): void;
}

function follow(parser: Parser, path: string[], told: Told): Branch {
  const { print } = told;
  const branch: Branch = { passed: 0, failed: 0, skipped: 0, asserted: 0, broken: 0 };
  let open: Branch | undefined;
  const close = (result?: Result) => {
    if (!open) return;
    const sum = summed(open, result);
    open = undefined;
    branch.passed += sum.passed;
    branch.failed += sum.failed;
    branch.skipped += sum.skipped;
    if (path.length === 0 && result) told.onFile(result, sum);
  };
  parser.on('child', (child: Parser) => {
    close();
    open = follow(child, [...path, child.name], told);
  });
  parser.on('assert', (result: Result) => {
    if (open) return close(result);
    if (result.skip || result.todo) {
      branch.skipped++;
      return;
    }
    branch.asserted++;
    if (result.ok) return;
    branch.broken++;
    print(failure([...path, result.name], result.diag));
  });
  parser.on('bailout', (reason: string) => print(`Bail out! ${reason}`));
  parser.on('extra', (text: string) => {
    if (text.trim() && !/^\s*(TAP version |1\.\.\d)/.test(text)) print(text.trimEnd());
  });
  // A subtest whose end never came belongs to a file that died in it.
  parser.on('complete', () => close());
  return branch;
}

function summed(branch: Branch, result: Result | undefined): Tally {
  const { passed, failed, skipped, asserted, broken } = branch;
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

/** The failure as a person wants it: where, what differs, and the rest as tap told it. */
function failure(path: string[], diag: unknown): string {
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
