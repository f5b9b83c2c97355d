import { hash, randomUUID } from 'node:crypto';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { ExecutionSource, SourceStates, TaskSource } from '@carillon/db';
import pLimit from 'p-limit';
import type { Context } from '../../../context.ts';
import { readSource } from '../../sources/read-source.ts';
import { type ChangedState, hashDefinition, type SourceState } from './states.ts';

/** Of what one source adds to a prompt, in characters. */
export const MAX_SOURCE_TEXT = 20_000;
const MAX_NEW_ENTRIES = 20;
const MAX_FIRST_ENTRIES = 10;
/** Of a short hash, in characters. */
const HASH_LENGTH = 8;
const MAX_REMEMBERED = 250 * HASH_LENGTH;
/** Begins the digest of a feed, which has the hashes of its newest entries. */
const FEED = 'feed:';
/** Of this process: each holds up to 2 MiB. */
const limit = pLimit(256);

/** A look at one source of a task. */
export interface SourceLook extends ChangedState {
  source: TaskSource;
  /** The text that it has read; null if the stored text is still right, and after a failure. */
  text: string | null;
  status: ExecutionSource['status'];
  httpStatus: number | null;
  fetchedAt: Date;
  /** Why it failed. */
  message: string | null;
  /** Whether the look before failed too. */
  wasFailed: boolean;
  /** Whether the task may have something to do: it is not as at the last completed run. */
  isChanged: boolean;
}

export interface LookedTask {
  id: number;
  userId: number;
  sources: readonly TaskSource[];
}

/** Looks at all sources of a task at once, without a transaction. `known` has what is stored of them. */
export function lookAtSources(ctx: Context, task: LookedTask, known: readonly SourceState[]): Promise<SourceLook[]> {
  const states = new Map(known.filter(({ taskId }) => taskId === task.id).map((state) => [state.name, state]));
  return Promise.all(
    task.sources.map((source) =>
      limit(() => lookAtSource(ctx, task, source, startState(task.id, source, states.get(source.name)))),
    ),
  );
}

function startState(taskId: number, source: TaskSource, known: SourceState | undefined): SourceState {
  const definition = hashDefinition(source);
  if (known?.definition === definition) return known;
  return {
    id: known?.id ?? randomUUID(),
    taskId,
    name: source.name,
    definition,
    etag: null,
    lastModified: null,
    digest: null,
    completedDigest: null,
    completedEntries: null,
    bytes: null,
    asOf: null,
    failuresInRow: 0,
  };
}

async function lookAtSource(
  ctx: Context,
  { userId }: LookedTask,
  source: TaskSource,
  before: SourceState,
): Promise<SourceLook> {
  const { etag, lastModified } = before;
  const answer = await readSource(ctx, userId, source, isUsable(before) ? { etag, lastModified } : undefined);
  const fetchedAt = ctx.now();
  const asOf = fetchedAt.toISOString();
  const wasFailed = before.failuresInRow > 0;
  const found = { source, httpStatus: answer.httpStatus, fetchedAt, wasFailed, message: null };
  if (answer.status === 'failed') {
    const state = { ...before, failuresInRow: before.failuresInRow + 1 };
    return {
      ...found,
      state,
      text: null,
      newText: null,
      status: 'failed',
      message: answer.message,
      isChanged: before.asOf === null,
    };
  }
  if (answer.status === 'not_modified') {
    const state = { ...before, asOf, failuresInRow: 0 };
    // Entries that were new at the last look are not any more.
    const text = isFeed(before.digest) ? NO_ENTRIES : null;
    const isChanged = text === null && before.digest !== before.completedDigest;
    return { ...found, state, text, newText: text, status: isChanged ? 'new' : 'unchanged', isChanged };
  }
  const { entries, bytes, title } = answer;
  const good = { ...before, etag: answer.etag, lastModified: answer.lastModified, bytes, asOf, failuresInRow: 0 };
  if (!entries) {
    const digest = hash('sha256', answer.text, 'base64url');
    const text = toStorableText(title ? `${title}\n\n${answer.text}` : answer.text, MAX_SOURCE_TEXT);
    const isChanged = digest !== before.completedDigest;
    const newText = digest === before.digest ? null : text;
    return { ...found, state: { ...good, digest }, text, newText, status: isChanged ? 'new' : 'unchanged', isChanged };
  }
  const seen = listHashes(before.completedEntries ?? '');
  const fresh = entries.filter(({ id }) => !seen.has(hashEntry(id)));
  const isFirst = before.completedDigest === null;
  const shown = fresh.slice(0, isFirst ? MAX_FIRST_ENTRIES : MAX_NEW_ENTRIES);
  const isChanged = isFirst || fresh.length > 0;
  const text = describeEntries(title, shown);
  return {
    ...found,
    text,
    newText: text,
    state: { ...good, digest: `${FEED}${entries.map(({ id }) => hashEntry(id)).join('')}` },
    status: isChanged ? 'new' : 'unchanged',
    isChanged,
  };
}

const isFeed = (digest: string | null) => digest?.startsWith(FEED) ?? false;

/** Whether "not modified" is an answer: the stored text must be that of the run, and that of a feed depends on the last one. */
function isUsable({ digest, completedDigest, completedEntries }: SourceState): boolean {
  if (digest === null) return false;
  if (!isFeed(digest)) return true;
  if (completedDigest === null) return false;
  const seen = listHashes(completedEntries ?? '');
  return [...listHashes(digest.slice(FEED.length))].every((one) => seen.has(one));
}

const hashEntry = (id: string) => hash('sha256', id, 'base64url').slice(0, HASH_LENGTH);

function listHashes(text: string): Set<string> {
  const hashes = new Set<string>();
  for (let at = 0; at < text.length; at += HASH_LENGTH) hashes.add(text.slice(at, at + HASH_LENGTH));
  return hashes;
}

interface Entry {
  title: string;
  link: string | null;
  date: string | null;
  text: string;
}

const NO_ENTRIES = 'There are no new entries.';

function describeEntries(title: string | null, entries: readonly Entry[]): string {
  if (entries.length === 0) return NO_ENTRIES;
  const size = Math.floor(MAX_SOURCE_TEXT / entries.length) - 10;
  const described = entries.map(({ title: name, link, date, text }) =>
    toStorableText([name, link, date, text].filter(Boolean).join('\n'), size),
  );
  return toStorableText([title, ...described].filter(Boolean).join('\n\n'), MAX_SOURCE_TEXT);
}

/** What a run stores of its sources: what the API answers, and what its end needs. */
export function toExecutionSources(looks: readonly SourceLook[]): {
  sources: ExecutionSource[];
  sourceStates: SourceStates;
} {
  const states = looks.flatMap(({ state }) =>
    state.digest === null ? [] : [[state.name, toCompleted(state)] as const],
  );
  return { sources: looks.map(toExecutionSource), sourceStates: Object.fromEntries(states) };
}

const toExecutionSource = ({ source, state, status, httpStatus, fetchedAt, message }: SourceLook): ExecutionSource => ({
  name: source.name,
  ...(source.search === undefined ? { url: source.url ?? '' } : { search: source.search }),
  status,
  httpStatus,
  fetchedAt: fetchedAt.toISOString(),
  asOf: state.asOf === null ? null : new Date(state.asOf).toISOString(),
  bytes: state.bytes,
  message,
});

function toCompleted({ definition, digest, completedEntries }: SourceState): SourceStates[string] {
  if (digest === null || !isFeed(digest)) return { definition, digest: digest ?? '' };
  const now = digest.slice(FEED.length);
  const current = listHashes(now);
  const older = [...listHashes(completedEntries ?? '')].filter((one) => !current.has(one));
  return { definition, digest, entries: `${now}${older.join('')}`.slice(0, MAX_REMEMBERED) };
}
