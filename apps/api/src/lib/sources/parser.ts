import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';

interface ParseJob {
  /** At most 2 MiB. */
  bytes: Uint8Array;
  /** Without parameters; empty if unknown. */
  contentType: string;
  charset?: string | undefined;
  select?: string | undefined;
  /** Of the document, for links. */
  url: string;
  /** The answer of a search engine. */
  isSearch?: boolean;
}

export interface SourceEntry {
  id: string;
  title: string;
  link: string | null;
  date: string | null;
  text: string;
}

interface ParsedDocument {
  title: string | null;
  text: string;
  /** Of a feed: the newest 20. */
  entries?: SourceEntry[];
  problem?: undefined;
}

export type ParseProblem = 'no_text' | 'no_json' | 'no_html' | 'not_found' | 'no_engine' | 'malformed' | 'too_complex';

export interface Parser {
  /** Never rejects. */
  parse(job: ParseJob): Promise<ParsedDocument | { problem: ParseProblem }>;
  close(): Promise<unknown>;
}

const TOO_COMPLEX = { problem: 'too_complex' } as const;

/** Processor time of a thread for one document. */
const CPU_MS = 250;
/** On a busy machine, a thread waits for a processor. */
const WALL_MS = 5000;
const START_MS = 10_000;
const MEMORY = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 128 };

/** Parses documents on threads. One that takes too much time or memory costs its thread, and no other document. */
export function createParser({ cpuMs = CPU_MS } = {}): Parser {
  const limit = pLimit(Math.min(availableParallelism(), 2));
  const idle: Worker[] = [];
  let closed = false;

  const run = async (job: ParseJob): Promise<ParsedDocument | { problem: ParseProblem }> => {
    const thread = idle.pop() ?? (await startThread());
    thread.ref();
    const end = new AbortController();
    const answer = once(thread, 'message', end);
    thread.postMessage(job);
    try {
      const [parsed] = await Promise.race([answer, exceedTime(thread, cpuMs, end.signal)]);
      if (parsed.problem === 'too_complex' || closed) await thread.terminate();
      else {
        // An idle thread must not keep the process running.
        thread.unref();
        idle.push(thread);
      }
      return parsed;
    } finally {
      end.abort();
    }
  };
  return {
    // A thread that is out of memory ends, which rejects.
    parse: (job) => limit(run, job).catch(() => TOO_COMPLEX),
    close() {
      closed = true;
      return Promise.all(idle.splice(0).map((thread) => thread.terminate()));
    },
  };
}

async function startThread(): Promise<Worker> {
  const thread = new Worker(new URL('./parse-thread.js', import.meta.url), { execArgv: [], resourceLimits: MEMORY });
  thread.on('error', () => {});
  await once(thread, 'message', { signal: AbortSignal.timeout(START_MS) });
  return thread;
}

/** Resolves once the thread has used `cpuMs` of a processor, or waited too long for one. */
function exceedTime(thread: Worker, cpuMs: number, signal: AbortSignal): Promise<[typeof TOO_COMPLEX]> {
  const { promise, resolve } = Promise.withResolvers<[typeof TOO_COMPLEX]>();
  const start = thread.cpuUsage();
  const check = async () => {
    const { user, system } = await thread.cpuUsage(await start);
    const left = cpuMs - (user + system) / 1000;
    if (left <= 0) resolve([TOO_COMPLEX]);
    else if (!signal.aborted) timer = setTimeout(() => check().catch(() => {}), Math.ceil(left));
  };
  start.catch(() => {});
  let timer = setTimeout(() => check().catch(() => {}), cpuMs);
  const deadline = setTimeout(resolve, WALL_MS, [TOO_COMPLEX]);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    clearTimeout(deadline);
  });
  return promise;
}
