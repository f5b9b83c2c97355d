import t from 'tap';
import { getData, listActions, TASK, testActions, UNAUTHORIZED, validationError } from '../support/actions.ts';
import { testContext } from '../support/context.ts';
import { signUpAda, signUpAlice } from '../support/people.ts';
import { INVALID_IDS, postTask } from '../support/tasks.ts';

const { app, ctx } = await testContext(t);
const actions = testActions(ctx);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);

const fail = (): never => {
  throw new Error('hostile');
};
const proxy = (target: object) =>
  new Proxy(target, { get: fail, has: fail, ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail });
const circle: Record<string, unknown> = { ...TASK };
circle.description = circle;
const deep = (levels: number) => {
  let value: unknown = 'x';
  for (let i = 0; i < levels; i++) value = [value];
  return value;
};

/** Named, because most of them have no readable form. */
const HOSTILE: [string, unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 7],
  ['NaN', Number.NaN],
  ['a text', 'text'],
  ['a text with NUL', 'a\0b'],
  ['half a surrogate pair', '\ud800'],
  ['a BigInt', 7n],
  ['a symbol', Symbol('s')],
  ['a function', fail],
  ['an array', [1, 2]],
  ['a date', new Date(0)],
  ['an invalid date', new Date(Number.NaN)],
  ['a map', new Map([['name', 'x']])],
  ['a class', class {}],
  ['an object without a prototype', Object.create(null)],
  ['a proxy', proxy({})],
  ['a proxy of a function', proxy(fail)],
  ['a revoked proxy', revoked()],
  ['a getter that throws', Object.defineProperty({}, 'name', { enumerable: true, get: fail })],
  ['a toJSON that throws', { toJSON: fail }],
  ['something that throws a proxy', { toJSON: throwing(proxy(new Error('x'))) }],
  ['something that throws nothing', { toJSON: throwing(undefined) }],
  ['a promise', Promise.resolve({})],
  ['a thenable', Object.fromEntries([['then', fail]])],
  ['a circle', circle],
  ['a BigInt inside', { ...TASK, name: 7n }],
  ['1,000 levels', { name: deep(1000) }],
  ['a million levels', { name: deep(1_000_000) }],
  ['100,001 values', Array.from({ length: 100_001 }, () => 1)],
  ['an endless sparse array', new Array(4_294_967_295)],
  ['a text of 100 MB', { name: 'x'.repeat(100_000_000) }],
  ['a key of 2 MB', { ['x'.repeat(2_000_000)]: 1 }],
  ['__proto__', JSON.parse('{"__proto__": {"admin": true}, "constructor": 1}')],
];

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function throwing(what: unknown) {
  return () => {
    throw what;
  };
}

t.test('No action throws or fails for any arguments', async (t) => {
  for (const [name, act] of listActions(actions)) {
    for (const [what, value] of HOSTILE) {
      for (const given of [[value], ['1', value], [value, value, value]]) {
        const { success, code } = await act(ada.token, ...given);
        const isFine = success || [undefined, 'NOT_FOUND', 'CONFLICT'].includes(code);
        if (!isFine) t.fail(`${name} with ${what}: ${code}`);
      }
    }
  }
  t.pass('nothing was thrown, and nothing was a failure of ours');
});

t.test('No action throws or fails for any session', async (t) => {
  const sessions = [...HOSTILE.map(([, value]) => value), {}, 'a.b.c', `${alice.token}x`, 'x'.repeat(10_000_000)];
  for (const [name, act] of listActions(actions)) {
    for (const session of sessions) {
      const answer = await act(session, '1', {});
      if (answer.code !== UNAUTHORIZED.code) t.fail(`${name} let ${typeof session} in`);
    }
  }
  t.pass('no call was accepted');
});

t.test('Invalid input is rejected by field', async (t) => {
  const create = (input: unknown) => actions.createTask(alice.token, input as never);
  const unreadable = validationError({ input: ['must be plain data of at most 1 MiB'] });
  t.same(await create(undefined), validationError({ input: ['must be an object'] }));
  t.same(await create(null), validationError({ input: ['must be an object'] }));
  t.same(await create([]), validationError({ input: ['must be an object'] }));
  t.same(await create(circle), unreadable);
  t.same(await create(proxy({})), unreadable);
  t.same(await create({ ...TASK, name: 'x'.repeat(1024 * 1024) }), unreadable);
  t.same(await create({ ...TASK, name: 'a\0b' }), validationError({ name: ['must not contain the NUL character'] }));
  t.same(
    await create({ ...TASK, prompt: '\ud800 and more' }),
    validationError({ prompt: ['must not contain half a surrogate pair'] }),
  );
  t.same(
    await create({ ...TASK, extra: 1, userId: ada.id }),
    validationError({ extra: ['is not a known field'], userId: ['is not a known field'] }),
  );
});

t.test('A getter is read once: it cannot show one value to the validator and another to the service', async (t) => {
  let reads = 0;
  const input = {
    ...TASK,
    get name() {
      reads += 1;
      return reads === 1 ? 'A good name' : 'x';
    },
  };
  t.equal((await getData(actions.createTask(alice.token, input))).name, 'A good name');
  t.equal(reads, 1);
});

t.test('Input is read as JSON would carry it: dates are strings, and undefined is left out', async (t) => {
  const input = { value: 7, maxUses: undefined, expiresAt: new Date('2027-01-01T00:00:00Z') as never };
  t.match(await getData(actions.createCoupon(ada.token, input)), {
    maxUses: null,
    expiresAt: '2027-01-01T00:00:00.000Z',
  });
});

t.test('An id that cannot exist is not found, and one that is not a string is rejected by name', async (t) => {
  const id = String(await postTask(app, alice));
  const byId = listActions(actions).filter(([name]) =>
    [
      'deleteTask',
      'toggleTaskActive',
      'executeTask',
      'skipNextRun',
      'duplicateTask',
      'getExecutionDetails',
      'retryExecution',
      'cancelExecution',
      'updateUserRole',
      'testWebhook',
    ].includes(name),
  );
  t.equal(byId.length, 10);
  for (const [name, act] of byId) {
    for (const text of [...INVALID_IDS, '', `0${id}`, `${id} `, 'a\0b', 'x'.repeat(100_000)]) {
      const { code, success } = await act(ada.token, text, true);
      t.same({ code, success }, { code: 'NOT_FOUND', success: false }, `${name} ${text.slice(0, 20)}`);
    }
    t.same(await act(ada.token, 7, true), validationError({ id: ['must be a string'] }));
    t.same(await act(ada.token), validationError({ id: ['is required'] }));
  }
  t.match(await actions.updateTask(alice.token, { id: '0' }), { code: 'NOT_FOUND' });
  t.same(
    await actions.toggleTaskActive(alice.token, id, 'yes' as never),
    validationError({ active: ['must be a boolean'] }),
  );
  t.match(await actions.updateUserRole(ada.token, '1', 'KING' as never), { details: { role: [/USER, ADMIN/] } });
});
