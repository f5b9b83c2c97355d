import { write, writeSync } from 'node:fs';
import { hostname } from 'node:os';

/** A write for each line costs as much as a query. A killed process loses lines. */
const FLUSH_MS = 100;
const FLUSH_LENGTH = 12_288;
/** Until the next attempt after a failed write. */
const RETRY_MS = 1000;
/** Lines that wait for a slow reader; further ones are dropped. */
const MAX_WAITING_LENGTH = 1024 * 1024;
/** At exit, a reader that does not read is waited for this long. */
const EXIT_MS = 1000;
const NEW_LINE = 0x0a;

export interface LogDestination {
  write(line: string): void;
  /** Lines lost since the start of the process, because they could not be written. */
  readonly droppedLines: number;
}

interface DestinationOptions {
  /** Default: that of standard output. */
  fd?: number;
  /** Converts a JSON line to what is written. */
  format?: (line: string) => string;
  flushMs?: number;
  retryMs?: number;
}

interface Batch {
  bytes: Buffer;
  /** Length of the line at its start that reports dropped lines, and their number; 0 without it. */
  reportLength: number;
  reported: number;
}

/**
 * Writes lines in batches, without blocking the process. A batch that cannot be written, as on a full disk, is dropped and
 * counted; the next one that can be written starts with a line that has the count.
 */
export function createLogDestination({
  fd = 1,
  format = (line) => line,
  flushMs = FLUSH_MS,
  retryMs = RETRY_MS,
}: DestinationOptions = {}): LogDestination {
  let waiting: string[] = [];
  let waitingLength = 0;
  /** What is being written, or has to be written again because the reader was not ready. */
  let batch: Batch | null = null;
  let writingSince: number | null = null;
  let isFailing = false;
  let hasPartialLine = false;
  let droppedLines = 0;
  let unreported = 0;
  let timer: NodeJS.Timeout | null = null;

  function drop(lines: number) {
    droppedLines += lines;
    unreported += lines;
  }

  function takeBatch(): Batch | null {
    if (waiting.length === 0 && unreported === 0) return null;
    const start = hasPartialLine ? '\n' : '';
    const report = Buffer.from(unreported === 0 ? start : `${start}${format(buildReport(unreported))}`);
    const lines = Buffer.from(waiting.join(''));
    waiting = [];
    waitingLength = 0;
    return { bytes: Buffer.concat([report, lines]), reportLength: report.length, reported: unreported };
  }

  function advance(current: Batch, written: number): Batch | null {
    if (written > 0) hasPartialLine = current.bytes[written - 1] !== NEW_LINE;
    const isReported = written >= current.reportLength;
    if (isReported) unreported -= current.reported;
    if (written === current.bytes.length) return null;
    return {
      bytes: current.bytes.subarray(written),
      reportLength: isReported ? 0 : current.reportLength - written,
      reported: isReported ? 0 : current.reported,
    };
  }

  function flush() {
    if (writingSince !== null) return;
    batch ??= takeBatch();
    if (batch === null) return;
    const current = batch;
    writingSince = performance.now();
    write(fd, current.bytes, (error, written) => {
      writingSince = null;
      if (!error) {
        isFailing = false;
        batch = advance(current, written);
        if (batch !== null || waitingLength >= FLUSH_LENGTH) flush();
      } else if (isReaderBusy(error)) {
        flushLater(flushMs);
      } else {
        isFailing = true;
        batch = null;
        drop(countLines(current.bytes.subarray(current.reportLength)));
        flushLater(retryMs);
      }
    });
  }

  function flushLater(ms: number) {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      flush();
    }, ms).unref();
  }

  /** A single attempt, because a full disk would otherwise keep the process from ending. */
  function writeRest() {
    if (isFailing || (writingSince !== null && performance.now() - writingSince > EXIT_MS)) return;
    const deadline = performance.now() + EXIT_MS;
    let rest = writingSince === null ? (batch ?? takeBatch()) : takeBatch();
    while (rest !== null && performance.now() < deadline) {
      try {
        rest = advance(rest, writeSync(fd, rest.bytes)) ?? takeBatch();
      } catch (error) {
        if (!isReaderBusy(error)) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      }
    }
  }
  process.once('exit', writeRest);

  return {
    get droppedLines() {
      return droppedLines;
    },
    write(line) {
      if (waitingLength > MAX_WAITING_LENGTH) return drop(1);
      const text = format(line);
      waiting.push(text);
      waitingLength += text.length;
      if (waitingLength >= FLUSH_LENGTH && !isFailing) flush();
      else flushLater(isFailing ? retryMs : flushMs);
    },
  };
}

const buildReport = (lines: number) =>
  `${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, hostname: hostname(), lines, msg: 'log lines dropped' })}\n`;

const isReaderBusy = (error: unknown) =>
  ['EAGAIN', 'EBUSY', 'EINTR'].includes((error as NodeJS.ErrnoException).code ?? '');

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEW_LINE); at !== -1; at = bytes.indexOf(NEW_LINE, at + 1)) lines += 1;
  return lines;
}
