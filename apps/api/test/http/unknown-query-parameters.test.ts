import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);

const read = async (url: string, headers: Record<string, string> = alice.headers) => {
  const response = await app.inject({ url, headers });
  return { status: response.statusCode, names: response.headers['x-unknown-query-parameters'] };
};

t.test('A query parameter that is ignored is named', async (t) => {
  t.same(await read('/api/tasks?stauts=paused&limit=5'), { status: 200, names: 'stauts' });
  t.same(await read('/api/executions?a=1&b=2&a=3'), { status: 200, names: 'a, b' });
  t.same(await read('/api/user?x=1'), { status: 200, names: 'x' }, 'also where no parameter is known');
  t.same(await read('/api/health?constructor=1&__proto__=2', {}), { status: 200, names: 'constructor, __proto__' });
});

t.test('Known query parameters are not named', async (t) => {
  for (const url of ['/api/tasks', '/api/tasks?status=paused&search=x', '/api/tasks?']) {
    t.same(await read(url), { status: 200, names: undefined }, url);
  }
});

t.test('An error has the header too', async (t) => {
  t.same(await read('/api/tasks?stauts=paused', {}), { status: 401, names: 'stauts' });
  t.same(await read('/api/tasks?limit=0&stauts=paused'), { status: 400, names: 'stauts' });
});

t.test('The header has at most ten names of bounded length, and visible ASCII only', async (t) => {
  const hostile = [
    'a%0d%0aSet-Cookie:x',
    '%C3%A9',
    'b%2Cc',
    '%F0%9F%98%80'.repeat(40),
    'x'.repeat(5000),
    '=',
    '%ED%A0%80',
  ];
  for (const name of hostile) {
    const { status, names } = await read(`/api/tasks?${name}=1`);
    t.equal(status, 200, name);
    t.match(names ?? '', /^[\x21-\x7e]{0,400}$/);
  }
  const many = Array.from({ length: 50 }, (_, n) => `p${n}=1`).join('&');
  t.equal((await read(`/api/tasks?${many}`)).names, 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9');
});

t.test('Scripts of the web application can read the header', async (t) => {
  const origin = new URL(ctx.config.appUrl).origin;
  const response = await app.inject({ url: '/api/health', headers: { origin } });
  t.match(response.headers['access-control-expose-headers'], /\bX-Unknown-Query-Parameters\b/);
});
