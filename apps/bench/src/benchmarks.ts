import type { Benchmark } from './benchmark.ts';
import { cancel } from './benchmarks/cancel.ts';
import { costs } from './benchmarks/capacity/costs.ts';
import { million } from './benchmarks/capacity/million.ts';
import { steady } from './benchmarks/capacity/steady.ts';
import { execute } from './benchmarks/execute.ts';
import { executions } from './benchmarks/executions/executions.ts';
import { processesExecutions } from './benchmarks/executions/processes-executions.ts';
import { sixteen } from './benchmarks/executions/sixteen/sixteen.ts';
import { health } from './benchmarks/http/health.ts';
import { processesHttp } from './benchmarks/http/processes.ts';
import { task } from './benchmarks/http/task.ts';
import { lateness } from './benchmarks/lateness/lateness.ts';
import { logins } from './benchmarks/logins.ts';
import { memory } from './benchmarks/memory.ts';
import { pages } from './benchmarks/pages.ts';
import { pagesHtml } from './benchmarks/pages-html.ts';
import { slow } from './benchmarks/slow.ts';
import { start } from './benchmarks/start.ts';
import { stream } from './benchmarks/stream.ts';
import { history } from './benchmarks/tick/history.ts';
import { tick } from './benchmarks/tick/tick.ts';
import { webhooks } from './benchmarks/webhooks.ts';
import { admin } from './extra/admin.ts';
import { channels } from './extra/channels/channels.ts';
import { equalAnswers } from './extra/equal-answers.ts';
import { eventReaders } from './extra/event-readers.ts';
import { failover } from './extra/faults/failover.ts';
import { faults } from './extra/faults/faults.ts';
import { hangingReceivers } from './extra/hanging-receivers.ts';
import { outage } from './extra/outage.ts';
import { repeats } from './extra/repeats.ts';
import { simulate } from './extra/simulate.ts';
import { slowReaders } from './extra/slow-readers.ts';

/** In the order of the report. */
const REPORTED: Record<string, Benchmark> = {
  task,
  health,
  'processes-http': processesHttp,
  executions,
  'processes-executions': processesExecutions,
  sixteen,
  slow,
  execute,
  cancel,
  lateness,
  webhooks,
  stream,
  tick,
  history,
  pages,
  'pages-html': pagesHtml,
  memory,
  start,
  logins,
  steady,
  million,
  costs,
};

/** Measured only when named on the command line. */
const EXTRA: Record<string, Benchmark> = {
  admin,
  channels,
  faults,
  failover,
  outage,
  repeats,
  simulate,
  'equal-answers': equalAnswers,
  'event-readers': eventReaders,
  'hanging-receivers': hangingReceivers,
  'slow-readers': slowReaders,
};

export const BENCHMARKS: Readonly<Record<string, Benchmark>> = { ...REPORTED, ...EXTRA };

export const isInReport = (name: string): boolean => Object.hasOwn(REPORTED, name);
