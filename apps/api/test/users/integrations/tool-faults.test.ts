import type { RequestListener } from 'node:http';
import t from 'tap';
import { createIntegrations } from '../../../src/lib/third-party/integrations.ts';
import { testContext } from '../../support/context.ts';
import { signUpAlice } from '../../support/people.ts';
import { createPlantedSecrets } from '../../support/secrets/planted-secrets.ts';
import { FIGMA_USER, startFigmaServer } from '../../support/servers/figma-server.ts';
import { notionBot, startNotionServer } from '../../support/servers/notion-server.ts';
import { sendJson } from '../../support/servers/tool-server.ts';

const plants = createPlantedSecrets();
const [apiKey, token] = [`ntn_${plants.plant('a key')}`, `figd_${plants.plant('a token')}`];
const notion = await startNotionServer(t, { [apiKey]: notionBot() });
const figma = await startFigmaServer(t, { [token]: {} });
const env = { NOTES_API_URL: notion.url, DESIGN_API_URL: figma.url, LOG_LEVEL: 'trace' };
const { app, ctx, logged } = await testContext(t, { env });
const { headers } = await signUpAlice(app);

const TOOLS = [
  { name: 'Notion', noun: 'key', server: notion, url: '/api/integrations/notes/validate', payload: { apiKey } },
  { name: 'Figma', noun: 'token', server: figma, url: '/api/integrations/design/validate', payload: { token } },
];
const own = (name: string) => (name === 'Notion' ? notionBot() : FIGMA_USER);

/** Runs `work` with a short timeout. */
async function withShortTimeout<T>(work: () => Promise<T>): Promise<T> {
  const { integrations } = ctx;
  ctx.integrations = createIntegrations(ctx.config, { timeoutMs: 300 });
  try {
    return await work();
  } finally {
    await ctx.integrations.close();
    ctx.integrations = integrations;
  }
}

const answer =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

for (const { name, noun, server, url, payload } of TOOLS) {
  const check = () => app.inject({ method: 'POST', url, headers, payload });
  const unchecked = (what: string) => ({
    valid: false,
    error: `${name} ${what}, so the ${noun} could not be checked. Try again later.`,
  });

  t.test(`An unusable answer of ${name} is 503 and reveals nothing of the ${noun}`, async (t) => {
    const unlike = 'sent an answer that is not its own';
    const broken = 'could not be reached, or broke off its answer';
    const whole = JSON.stringify(own(name));
    const faults: [what: string, fault: RequestListener][] = [
      ['limits how often it may be asked', answer(429, '{"message":"Rate limited"}', { 'retry-after': '7' })],
      ['answered 500', answer(500, '{"status":500}')],
      ['answered 503', answer(503, '<html>down</html>')],
      ['answered 404', answer(404, '{"message":"Invalid request URL"}')],
      ['answered 400', answer(400, '{"code":"missing_version"}')],
      ['answered 403', answer(403, '<html>blocked by a firewall</html>')],
      ['answered 204', answer(204, '')],
      [unlike, answer(200, '<html>welcome</html>')],
      [unlike, answer(200, '')],
      [unlike, answer(200, whole.slice(0, -1))],
      [unlike, answer(200, 'null')],
      [unlike, answer(200, `[${whole}]`)],
      [unlike, answer(200, '{"object":"list","results":[]}')],
      [unlike, answer(200, JSON.stringify({ ...own(name), id: 7 }))],
      [unlike, answer(200, JSON.stringify({ ...own(name), id: '' }))],
      [broken, answer(200, `${' '.repeat(1024 * 1024)}${whole}`)],
      [broken, (request) => request.socket.resetAndDestroy()],
      [
        broken,
        (request, response) => {
          response.writeHead(200, { 'content-length': '1000' }).write('{', () => request.socket.resetAndDestroy());
        },
      ],
    ];
    for (const [what, fault] of faults) {
      server.fail(fault);
      const response = await check();
      t.equal(response.statusCode, 503, what);
      t.strictSame(response.json(), unchecked(what));
      t.equal(response.headers['retry-after'], '30');
    }
    server.fail(null);
    t.equal((await check()).statusCode, 200, 'and it is asked again the next time');
  });

  t.test(`A redirect of ${name} is not followed, so that the ${noun} goes nowhere else`, async (t) => {
    server.requests.length = 0;
    for (const status of [301, 302, 307, 308]) {
      server.fail(answer(status, '', { location: `${server.url}/elsewhere` }));
      const response = await check();
      t.equal(response.statusCode, 503);
      t.strictSame(response.json(), unchecked('answered with a redirect, which is not followed'));
    }
    t.equal(server.requests.length, 4);
  });

  t.test(`${name} has one timeout for its whole answer, whether silent, half silent or dripping`, async (t) => {
    const silent: RequestListener = () => {};
    const halfSilent: RequestListener = (_, response) => response.writeHead(200).flushHeaders();
    const dripping: RequestListener = (_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    };
    for (const fault of [silent, halfSilent, dripping]) {
      server.fail(fault);
      const response = await withShortTimeout(check);
      t.equal(response.statusCode, 503);
      t.strictSame(response.json(), unchecked('did not answer within 0.3 s'));
    }
  });

  t.test(`A refusal of ${name} that repeats the ${noun} is not passed on`, async (t) => {
    for (const status of [200, 400, 401, 403, 429, 500]) {
      server.fail((request, response) => {
        const echo = `${request.headers.authorization} ${request.headers['x-figma-token']}`;
        response.setHeader('x-echo', echo);
        sendJson(response, status, { object: 'error', code: echo, message: `Not ${echo}`, err: echo, status });
      });
      const response = await check();
      t.equal(response.statusCode, status === 401 || status === 403 ? 400 : 503);
      t.same(plants.findIn(`${JSON.stringify(response.headers)}${response.body}`), []);
    }
  });
}

t.test('A tool that cannot be reached is unavailable', async (t) => {
  const gone = createIntegrations({
    integrations: { notesUrl: 'http://127.0.0.1:1', designUrl: 'http://nowhere.invalid' },
  });
  t.teardown(() => gone.close());
  for (const verdict of [await gone.checkNotes(apiKey), await gone.checkDesign(token)]) {
    t.match(verdict, { valid: false, reason: 'unavailable', error: /could not be reached/ });
  }
});

t.test('No credential is logged, and the log names the variable of the address', async (t) => {
  t.same(
    logged.filter((line) => plants.findIn(JSON.stringify(line)).length > 0),
    [],
  );
  for (const variable of ['NOTES_API_URL', 'DESIGN_API_URL']) {
    t.ok(logged.some((line) => line.variable === variable && line.msg === 'integration check failed'));
  }
});
