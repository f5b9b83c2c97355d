import { readdirSync, readFileSync } from 'node:fs';
import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

const CLOCK_TICKS_PER_SECOND = 100;
/** Positions in `/proc/<pid>/stat` behind the name of the program. */
const PARENT = 1;
const OWN_TIMES = [11, 12];
const TIMES_OF_EXITED_CHILDREN = [13, 14];

/** User and system time in seconds since the start of the process. On Linux. */
export const readProcessorSeconds = (pid: number): number => sumSeconds(readFields(pid) ?? [], OWN_TIMES);

/** Of all processes of the PostgreSQL server, including those that have exited. On Linux, and only on its own machine. */
export async function readDatabaseProcessorSeconds(db: Db): Promise<number> {
  const [row] = await queryRows<{ pid: number }>(db, sql`select pg_backend_pid() as pid`);
  const server = readFields(row?.pid ?? 0)?.[PARENT];
  const children: number[] = [];
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? readFields(Number(name)) : null;
    if (fields?.[PARENT] === server) children.push(sumSeconds(fields ?? [], OWN_TIMES));
  }
  const own = sumSeconds(readFields(Number(server)) ?? [], [...OWN_TIMES, ...TIMES_OF_EXITED_CHILDREN]);
  return children.reduce((sum, seconds) => sum + seconds, own);
}

const sumSeconds = (fields: readonly string[], positions: readonly number[]) =>
  positions.reduce((sum, position) => sum + Number(fields[position]), 0) / CLOCK_TICKS_PER_SECOND;

/** Null if the process has exited. */
function readFields(pid: number): readonly string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
  } catch {
    return null;
  }
}

const MEMORY_FIELDS = { resident: 'VmRSS', 'most resident': 'VmHWM' };

/** In megabytes, now or at most since the start of the process. On Linux. */
export function readMemoryMb(pid: number, which: keyof typeof MEMORY_FIELDS = 'resident'): number {
  const line = new RegExp(`^${MEMORY_FIELDS[which]}:\\s+(\\d+) kB$`, 'm');
  const [, kilobytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
