import { setImmediate } from 'node:timers/promises';
import { compileValidator, type FieldErrors, findUnsafeValue } from '@carillon/contract';
import { FileTask, type FileType, MAX_FILE_TASKS } from '@carillon/contract/tasks/files';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { AppError } from '../../../errors.ts';
import { parseSchedule } from '../schedule.ts';
import { FileProblem } from './file-problem.ts';
import { splitYaml } from './split-yaml.ts';

/** A task of a file, and the line of each of its fields. */
export interface FileEntry {
  task: FileTask;
  schedule: ReturnType<typeof parseSchedule>;
  findLine(field: string): number;
}

interface ReadFile {
  entries: FileEntry[];
  problems: FileProblem[];
}

interface Item {
  value: unknown;
  line: number;
  findLine(field: string): number;
  /** Of its text. */
  length: number;
}

export const MAX_PROBLEMS = 100;

/** In UTF-16 units: reading them takes some milliseconds, after which other requests have their turn. */
const TURN_LENGTH = 64 * 1024;
/** Checking a task takes as long as reading this many. */
const TASK_LENGTH = 1024;

const validate = compileValidator(FileTask, 'task');

/** Reads as many tasks as there are before a text that is not of its type. */
export async function readFile(text: string, type: FileType): Promise<ReadFile> {
  const entries: FileEntry[] = [];
  const problems: FileProblem[] = [];
  const lines = new Map<string, number>();
  let length = 0;
  try {
    for (const item of type === 'yaml' ? readYaml(text) : readLines(text)) {
      if (entries.length === MAX_FILE_TASKS) {
        throw new FileProblem(item.line, `must have at most ${MAX_FILE_TASKS} tasks`);
      }
      const found = checkItem(item, lines);
      if (Array.isArray(found)) problems.push(...found);
      else entries.push(found);
      if (problems.length >= MAX_PROBLEMS) break;
      length += item.length + TASK_LENGTH;
      if (length > TURN_LENGTH) {
        length = 0;
        await setImmediate();
      }
    }
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    problems.push(error);
  }
  return { entries, problems };
}

/** `lines` has the lines of the names in use. */
function checkItem({ value, line, findLine }: Item, lines: Map<string, number>): FileEntry | FileProblem[] {
  const unsafe = findUnsafeValue(value);
  if (unsafe) {
    return [new FileProblem(findLine(unsafe.field), unsafe.message, unsafe.field || 'task')];
  }
  const checked = validate(value);
  if (!checked.ok) return toProblems(checked.details, findLine);
  const { externalId } = checked.value;
  const other = externalId === undefined ? undefined : lines.get(externalId);
  if (other !== undefined) {
    return toProblems({ externalId: [`is also that of the task at line ${other}`] }, findLine);
  }
  if (externalId !== undefined) lines.set(externalId, line);
  try {
    return { task: checked.value, schedule: parseSchedule(checked.value), findLine };
  } catch (error) {
    return toProblems(readDetails(error), findLine);
  }
}

/** The problems of an error 400 by field. Throws any other error. */
export function readDetails(error: unknown): FieldErrors {
  if (error instanceof AppError && error.kind === 'invalid' && error.details) return error.details as FieldErrors;
  throw error;
}

export const toProblems = (details: FieldErrors, findLine: (field: string) => number): FileProblem[] =>
  Object.entries(details).flatMap(([field, messages]) =>
    messages.map((message) => new FileProblem(findLine(field), message, field)),
  );

function* readLines(text: string): Generator<Item> {
  let line = 0;
  for (let at = 0; at < text.length; ) {
    line += 1;
    const end = text.indexOf('\n', at) + 1 || text.length;
    const json = text.slice(at, end).trim();
    at = end;
    if (json === '') continue;
    const at1 = line;
    yield { value: parseLine(json, line), line, findLine: () => at1, length: json.length };
  }
}

function parseLine(json: string, line: number): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new FileProblem(line, 'must be JSON');
  }
}

const OPTIONS = { schema: 'core', merge: true, resolveKnownTags: false, prettyErrors: false } as const;
/** How many nodes aliases may stand for in a task, as `yaml` counts them. */
const MAX_ALIASES = 100;

function* readYaml(text: string): Generator<Item> {
  for (const { line, prefix, text: piece } of splitYaml(text)) {
    const lineCounter = new LineCounter();
    const document = parseDocument(prefix + piece, { ...OPTIONS, lineCounter });
    const offset = line - 1 - (prefix.split('\n').length - 1);
    const toLine = (position: number) => offset + lineCounter.linePos(position).line;
    const [problem] = document.errors;
    if (problem) throw new FileProblem(toLine(problem.pos[0]), `must be YAML: ${problem.message}`);
    const list = document.contents;
    if (!isSeq(list)) throw new FileProblem(line, 'must be a list of tasks');
    const values = toValues(() => document.toJS({ maxAliasCount: MAX_ALIASES }), line);
    for (const [at, node] of list.items.entries()) {
      const start = (node as Node | null)?.range?.[0];
      if (start !== undefined && start < prefix.length) continue;
      const first = list.flow && start !== undefined ? toLine(start) : line;
      yield {
        value: values[at],
        line: first,
        findLine: (field) => {
          const position = findKey(node, field);
          return position === undefined ? first : toLine(position);
        },
        length: prefix.length + piece.length,
      };
    }
  }
}

function toValues(convert: () => unknown, line: number): unknown[] {
  try {
    return convert() as unknown[];
  } catch (error) {
    // It throws for an alias without an anchor, and for too many.
    if (!(error instanceof ReferenceError)) throw error;
    throw new FileProblem(line, 'must have an anchor before each alias, and fewer aliases of aliases');
  }
}

/** The position of a field, or of the innermost part of its path that is there. */
function findKey(node: unknown, field: string): number | undefined {
  let position: number | undefined;
  let at = node;
  for (const name of field.split('.')) {
    if (!isMap(at)) break;
    const pair = at.items.find(({ key }) => String((key as { value?: unknown } | null)?.value) === name);
    if (!pair) break;
    position = (pair.key as Node | null)?.range?.[0] ?? position;
    at = pair.value;
  }
  return position;
}
