import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testDatabase } from '@carillon/db/test-database';
import t from 'tap';
import { parse } from 'yaml';
import { type ApiProcess, startApiProcess } from '../../../../test/processes/api-process.ts';
import { JWT_SECRET, signInAll } from '../../../../test/processes/clients.ts';
import { insertDueTasks, insertPeople } from '../../../../test/processes/due-tasks.ts';
import { parseQuery } from '../support/metrics/promql.ts';
import { type Scrape, scrape } from '../support/metrics/scrape.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

/** Labels and metrics that Prometheus adds. */
const ADDED_LABELS = ['instance', 'job', 'le'];
const ADDED_METRICS = ['up'];

const read = (path: string) => readFileSync(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8');
const { db, url: databaseUrl } = await testDatabase(t);
const ai = await startAiServer();
t.teardown(() => ai.close());
const receiver = await startReceiver(t);
const env = { JWT_SECRET, METRICS_PORT: '0' };
const api = await startApiProcess(t, { databaseUrl, aiUrl: ai.url, env });
const metricsUrl = urlOf(api);
const scraped = await exerciseProcess();

function urlOf({ log }: ApiProcess): string {
  const line = log.find(({ msg }) => msg === 'metrics');
  if (typeof line?.url !== 'string') throw new Error('The process logged no metrics address.');
  return line.url;
}

/** Makes the process do some of each measured thing, and returns its scrape. */
async function exerciseProcess(): Promise<Scrape> {
  const [userId = 0] = await insertPeople(db, 1);
  const [token] = await signInAll(db, [userId]);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = async (path: string, body: object) => {
    const response = await fetch(`${api.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  };
  await post('/api/webhooks', { url: receiver.url, events: ['execution.completed', 'execution.failed'] });
  ai.answer((_request, index) => (index === 0 ? { status: 400, body: { error: { message: 'No' } } } : {}));
  await insertDueTasks(db, { userIds: [userId], perUser: 4, at: new Date() });
  await api.tick();
  await post('/api/agent/process', { message: 'Name a moon.' });
  const form = new FormData();
  form.set('file', new File(['Titan, Rhea, Dione'], 'moons.txt', { type: 'text/plain' }));
  const { authorization } = headers;
  const uploaded = await fetch(`${api.url}/api/upload`, { method: 'POST', headers: { authorization }, body: form });
  if (!uploaded.ok) throw new Error(`The upload was answered ${uploaded.status}.`);
  for (let i = 0; i < 605; i++) await fetch(`${api.url}/nothing`).then((response) => response.text());
  const isDone = (scraped: Scrape) =>
    scraped.value('carillon_executions_total') === 4 && scraped.value('carillon_webhook_attempts_total') === 4;
  await until(async () => isDone(await scrape(metricsUrl)));
  return scrape(metricsUrl);
}

const readLabels = (one: Scrape, metric: string) =>
  new Set(one.samples.filter(({ name }) => name === metric).flatMap(({ labels }) => Object.keys(labels)));
const allLabels = new Set(scraped.samples.flatMap(({ labels }) => Object.keys(labels)));

/** Metrics, matchers and labels of a query that the process does not have. */
function findUnknown(expr: string): string[] {
  const { selectors, groupedBy } = parseQuery(expr);
  const ofSelectors = selectors.flatMap(({ metric, matchers }) => {
    if (ADDED_METRICS.includes(metric)) return [];
    if (!scraped.samples.some(({ name }) => name === metric)) return [metric];
    const known = readLabels(scraped, metric);
    return matchers.flatMap(({ label, operator, value }) => {
      if (ADDED_LABELS.includes(label)) return [];
      // Not every status class occurred.
      const isSeen = label === 'status' || scraped.value(metric, { [label]: value }) !== undefined;
      return known.has(label) && (operator !== '=' || isSeen) ? [] : [`${metric}{${label}${operator}"${value}"}`];
    });
  });
  return [...ofSelectors, ...groupedBy.filter((label) => !allLabels.has(label) && !ADDED_LABELS.includes(label))];
}

t.test('A process measures its work', async (t) => {
  const is = (name: string, labels: Record<string, string>, value: number) =>
    t.equal(scraped.value(name, labels), value, `${name} ${JSON.stringify(labels)}`);
  is('carillon_executions_total', { outcome: 'completed' }, 3);
  is('carillon_executions_total', { outcome: 'failed', error_code: 'INVALID_REQUEST' }, 1);
  is('carillon_execution_start_lateness_seconds_count', { trigger: 'schedule' }, 4);
  is('carillon_agent_calls_total', { outcome: 'completed' }, 1);
  is('carillon_webhook_attempts_total', { outcome: 'delivered' }, 4);
  is('carillon_webhook_delivery_lag_seconds_count', {}, 4);
  is('carillon_upload_bytes_total', {}, 18);
  is('carillon_rate_limit_refusals_total', { bucket: 'public endpoints' }, 5);
  is('carillon_http_request_duration_seconds_count', { route: '/api/upload', method: 'POST', status: '2xx' }, 1);
  is('carillon_ready', {}, 3);
  t.ok((scraped.value('carillon_tokens_total', { direction: 'input' }) ?? 0) > 0);
  t.ok((scraped.value('carillon_execution_start_lateness_seconds_sum') ?? -1) >= 0);
  t.ok((scraped.value('carillon_database_connections_open') ?? 0) > 0);
  for (const name of scraped.types.keys()) t.match(name, /^(carillon|process|nodejs)_/);
});

t.test('Every query of the dashboard matches the metrics and labels of a process', async (t) => {
  const { panels, templating } = JSON.parse(read('grafana-dashboard.json'));
  let queries = 0;
  for (const { title, type, targets = [], gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24, `${title} is on the grid`);
    if (type !== 'row') t.ok(targets.length > 0, title);
    for (const { expr, legendFormat, datasource } of targets) {
      queries += 1;
      t.same(findUnknown(expr), [], `${title}: ${expr}`);
      t.equal(datasource.uid, `\${datasource}`);
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        t.ok(allLabels.has(label) || ADDED_LABELS.includes(label), `${title} names ${label}`);
      }
    }
  }
  t.ok(queries > 40, `${queries} queries`);
  const ids = panels.map(({ id }: { id: number }) => id);
  t.equal(new Set(ids).size, ids.length);
  t.match(templating.list, [
    { name: 'datasource', type: 'datasource', query: 'prometheus' },
    { name: 'instance', query: { query: 'label_values(carillon_build_info, instance)' } },
  ]);
  t.ok(scraped.types.has('carillon_build_info'));
});

t.test('Every alert matches the metrics of a process and says what to do', async (t) => {
  const { groups } = parse(read('alerts.yml'));
  const rules = groups.flatMap((group: { rules: object[] }) => group.rules);
  t.ok(rules.length > 8);
  for (const { alert, expr, labels, annotations, ...rest } of rules) {
    t.same(findUnknown(expr), [], `${alert}: ${expr}`);
    t.match(alert, /^Carillon[A-Za-z]+$/);
    t.match(labels.severity, /^(critical|warning)$/);
    t.match(rest.for ?? '1m', /^\d+m$/);
    t.match(annotations, { summary: /\w/, description: /\w/ });
    t.same(
      Object.keys(rest).filter((key) => key !== 'for'),
      [],
    );
    for (const [, label = ''] of `${annotations.summary} ${annotations.description}`.matchAll(/\$labels\.(\w+)/g)) {
      t.ok(allLabels.has(label) || ADDED_LABELS.includes(label), `${alert} names ${label}`);
    }
  }
});

t.test('Every metric of Carillon is on the dashboard', async (t) => {
  const dashboard = read('grafana-dashboard.json');
  const missing = [...scraped.types.keys()].filter((name) => name.startsWith('carillon_') && !dashboard.includes(name));
  t.same(missing, []);
});

t.test('The check finds unknown metrics and labels, and invalid queries', async (t) => {
  t.same(findUnknown('rate(carillon_nothing_total[5m])'), ['carillon_nothing_total']);
  t.same(findUnknown('carillon_ready{chek="worker"}'), ['carillon_ready{chek="worker"}']);
  t.same(findUnknown('carillon_queue_depth{queue="letters"}'), ['carillon_queue_depth{queue="letters"}']);
  t.same(findUnknown('sum by (color) (carillon_ready)'), ['color']);
  for (const broken of ['sum(carillon_ready', 'rate(carillon_ready[5x])', 'carillon_ready{check=worker}', '1 + 1']) {
    t.throws(() => findUnknown(broken), broken);
  }
});

t.test('A taken METRICS_PORT stops the start', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const failed = startApiProcess(t, { databaseUrl, aiUrl: ai.url, env: { METRICS_PORT: `${port}` } });
  await t.rejects(failed, { message: /^it ended with 1 before it listened/ });
});

t.test('The metrics stop with the process', async (t) => {
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
  await t.rejects(fetch(metricsUrl));
});
