import type { Db } from '@carillon/db';
import { runAllDue } from '../due-tasks.ts';
import { assertWritten } from './written-rows.ts';

const TIMEOUT_MS = 180_000;

/** Runs all `count` tasks of a running Carillon and returns the executions per second from the due instant on. */
export async function measureDueRate(db: Db, count: number): Promise<number> {
  const since = new Date();
  const { lastCompletionMs } = await runAllDue(db, { count, timeoutMs: TIMEOUT_MS });
  await assertWritten(db, since, count);
  return (count / lastCompletionMs) * 1000;
}
