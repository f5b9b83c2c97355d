import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { FILE_TYPES, type FileError, type ImportResult } from '@carillon/contract/tasks/files';
import type { Texts } from '@carillon/texts';
import type { Command } from 'commander';
import { type AddCommand, type CommandContext, CommandFailure } from './command.ts';

const USAGE_ERROR = 2;

interface Options {
  url?: string;
  key?: string;
  prune?: true;
}

export const addTasksCommand: AddCommand = (program, context) => {
  const { help } = context.texts;
  const tasks = program.command('tasks').summary(help.tasks.summary).description(help.tasks.description);
  const add = (name: 'export' | 'diff' | 'apply', work: (file: string, options: Options) => Promise<void>): Command =>
    tasks
      .command(name)
      .summary(help.taskFiles[name].summary)
      .description(help.taskFiles[name].description)
      .argument('[file]', help.tasks.file, '-')
      .option('--url <url>', help.tasks.url)
      .option('--key <key>', help.tasks.key)
      .action(work);
  add('export', (file, options) => exportTasks(context, file, options));
  add('diff', (file, options) => sendFile(context, file, options, { dryRun: true })).option(
    '--prune',
    help.tasks.prune,
  );
  add('apply', (file, options) => sendFile(context, file, options, { dryRun: false })).option(
    '--prune',
    help.tasks.prune,
  );
};

async function exportTasks(context: CommandContext, file: string, options: Options): Promise<void> {
  const { body } = await request(context, options, '/api/user/tasks', { headers: { accept: findType(file) } });
  const source = Readable.fromWeb(body as ReadableStream);
  if (file === '-') return pipeline(source, process.stdout as Writable, { end: false, signal: context.signal });
  const part = `${file}.part`;
  try {
    await pipeline(source, createWriteStream(part), { signal: context.signal });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw new CommandFailure(context.texts.commands.unwritable(file, describe(error)));
  }
}

async function sendFile(
  context: CommandContext,
  file: string,
  options: Options,
  { dryRun }: { dryRun: boolean },
): Promise<void> {
  const { commands: texts } = context.texts;
  const query = new URLSearchParams({ dryRun: String(dryRun), prune: String(options.prune === true) });
  const content = await readSource(context, file);
  const type = file === '-' && content.subarray(0, 1).toString() === '{' ? FILE_TYPES.jsonl : findType(file);
  const answer = await request(context, options, `/api/user/import?${query}`, {
    file,
    method: 'POST',
    headers: { 'content-type': type },
    body: new Uint8Array(content),
  });
  const result = (await answer.json()) as ImportResult;
  if (result.errors.length > 0) throw new CommandFailure(describeErrors(file, result.errors));
  for (const { name, nextRuns } of result.preview) console.log(describeTask(texts, name, nextRuns));
  console.log(texts[dryRun ? 'wouldImport' : 'imported'](result));
  if (dryRun && result.created + result.updated + result.deleted > 0) context.setExitCode(1);
}

function describeTask(texts: Texts['commands'], name: string, [next]: ImportResult['preview'][number]['nextRuns']) {
  return next === undefined ? name : texts.nextRun(name, String(next));
}

/** As compilers write them. */
const describeErrors = (file: string, errors: readonly FileError[]) =>
  errors.map(({ line, field, message }) => `${file}:${line}: ${field} ${message}`).join('\n');

const findType = (file: string) => (/\.(jsonl|ndjson)$/i.test(file) ? FILE_TYPES.jsonl : FILE_TYPES.yaml);

async function readSource({ texts }: CommandContext, file: string): Promise<Buffer> {
  if (file === '-') return buffer(process.stdin);
  return readFile(file).catch((error) => {
    throw new CommandFailure(texts.commands.unreadable(file, describe(error)));
  });
}

const describe = (error: unknown) => String((error as { code?: string }).code ?? (error as Error).message);

interface Sent {
  /** What errors are of. */
  file?: string;
  method?: string;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

interface Refusal {
  error?: string;
  message?: string;
  errors?: FileError[];
}

/** Throws a `CommandFailure` for settings that are missing, and for an answer other than 2xx. */
async function request(
  { env, texts: { commands: texts }, signal }: CommandContext,
  { url = env.CARILLON_URL, key = env.CARILLON_KEY }: Options,
  path: string,
  { file = '-', headers, ...init }: Sent,
): Promise<Response> {
  if (!url || !key) throw new CommandFailure(texts.urlAndKey, USAGE_ERROR);
  if (!/^https?:/.test(url) || !URL.canParse(url)) throw new CommandFailure(texts.notUrl(url), USAGE_ERROR);
  const answer = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    ...init,
    headers: { ...headers, authorization: `Bearer ${key}` },
    // Another host must not get the key.
    redirect: 'manual',
    signal,
  }).catch((error: Error) => {
    throw new CommandFailure(texts.notReached(url, describe(error.cause ?? error)));
  });
  if (answer.ok) return answer;
  const { errors, error, message = error } = (await answer.json().catch(() => ({}))) as Refusal;
  if (errors) throw new CommandFailure(describeErrors(file, errors));
  throw new CommandFailure(texts.refused(answer.status, message ?? answer.statusText));
}
