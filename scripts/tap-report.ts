import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Parser, type Result } from 'tap-parser';

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

interface Subtest extends Tally {
  /** Assertions outside its own subtests. */
  asserted: number;
  broken: number;
}

export interface FileReport {
  counts: Tally;
  /** Its failures, in full. */
  lines: string[];
  ms: number;
}

/**
 * Reads the TAP of a process, in which each test file is a subtest, to its end. Counts tests: a test is a subtest without
 * subtests inside it, or the assertions of a file outside any subtest. A file that ends early or tests nothing counts as
 * one failed test more. What belongs to no file is reported by its own name, and printed.
 */
export async function readTap(tap: Readable, print: (line: string) => void): Promise<Map<string, FileReport>> {
  const parser = new Parser();
  const reports = new Map<string, FileReport>();
  let endFile: ((result?: Result) => void) | undefined;
  parser.on('child', (child: Parser) => {
    const lines: string[] = [];
    const whole = countSubtest(child, [child.name], (line) => lines.push(line));
    endFile = (result) => {
      const counts = totalCounts(whole, { ok: result?.ok ?? false });
      if (counts.passed + counts.failed + counts.skipped === 0) counts.failed = 1;
      reports.set(child.name, { counts, lines, ms: result?.time ?? 0 });
      endFile = undefined;
    };
  });
  parser.on('assert', (result: Result) => {
    if (endFile) return endFile(result);
    reports.set(result.name, { counts: { passed: 0, failed: 1, skipped: 0 }, lines: [], ms: 0 });
    print(failureText([result.name], result.diag));
  });
  printRest(parser, print);
  const complete = once(parser, 'complete');
  tap.pipe(parser);
  await complete;
  // The process died inside a file, which never reported its end.
  endFile?.();
  return reports;
}

function countSubtest(parser: Parser, path: string[], print: (line: string) => void): Subtest {
  const subtest: Subtest = { passed: 0, failed: 0, skipped: 0, asserted: 0, broken: 0 };
  let child: Subtest | undefined;
  const endChild = (result?: Result) => {
    if (!child) return;
    const counts = totalCounts(child, result);
    child = undefined;
    subtest.passed += counts.passed;
    subtest.failed += counts.failed;
    subtest.skipped += counts.skipped;
  };
  parser.on('child', (childParser: Parser) => {
    endChild();
    child = countSubtest(childParser, [...path, childParser.name], print);
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
  printRest(parser, print);
  // A file that died inside a subtest never reported its end.
  parser.on('complete', () => endChild());
  return subtest;
}

function printRest(parser: Parser, print: (line: string) => void) {
  parser.on('bailout', (reason: string) => print(`Bail out! ${reason}`));
  parser.on('extra', (text: string) => {
    if (text.trim() && !/^\s*(TAP version |1\.\.\d)/.test(text)) print(text.trimEnd());
  });
}

function totalCounts(subtest: Subtest, result: Partial<Result> | undefined): Tally {
  const { passed, failed, skipped, asserted, broken } = subtest;
  if (result?.skip || result?.todo) return { passed, failed, skipped: skipped + 1 };
  if (broken > 0 || (!result?.ok && failed === 0)) return { passed, failed: failed + 1, skipped };
  return { passed: asserted > 0 ? passed + 1 : passed, failed, skipped };
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
