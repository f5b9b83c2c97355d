import type { Benchmark } from './benchmark.ts';
import { cancel } from './benchmarks/cancel.ts';
import { costs } from './benchmarks/capacity/costs.ts';
import { million } from './benchmarks/capacity/million.ts';
import { soak } from './benchmarks/capacity/soak.ts';
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

/** In the order of the report. */
export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
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
  soak,
};

/** What is measured without a name on the command line: not the soak of two hours. */
export const listDefault = ({ quick }: { quick: boolean }): string[] =>
  Object.keys(BENCHMARKS).filter((name) => quick || name !== 'soak');
