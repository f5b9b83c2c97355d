import type { Bench } from './bench.ts';
import { admin } from './others/admin.ts';
import { equalAnswers } from './others/equal-answers.ts';
import { faults } from './others/faults.ts';
import { hangingReceivers } from './others/hanging-receivers.ts';
import { outage } from './others/outage.ts';
import { execute } from './rows/execute.ts';
import { executions } from './rows/executions.ts';
import { health } from './rows/health.ts';
import { lateness } from './rows/lateness.ts';
import { logins } from './rows/logins.ts';
import { memory } from './rows/memory.ts';
import { pages } from './rows/pages.ts';
import { slow } from './rows/slow.ts';
import { start } from './rows/start.ts';
import { task } from './rows/task.ts';
import { tick } from './rows/tick.ts';
import { webhooks } from './rows/webhooks.ts';

/** What has a row in the report, in its order. */
const ROWS: Record<string, Bench> = {
  ...{ task, health, executions, slow, execute, lateness },
  ...{ webhooks, tick, pages, memory, start, logins },
};
/** What answers another question, and is measured only when it is named. */
const OTHERS: Record<string, Bench> = {
  ...{ admin, faults, outage },
  'equal-answers': equalAnswers,
  'hanging-receivers': hangingReceivers,
};

export const MEASUREMENTS: Readonly<Record<string, Bench>> = { ...ROWS, ...OTHERS };

export const isInReport = (name: string): boolean => Object.hasOwn(ROWS, name);
