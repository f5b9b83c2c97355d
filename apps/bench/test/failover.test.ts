import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { compareDeliveries } from '../../../test/system/deliveries.ts';
import { chooseEtcdApi } from '../src/extra/faults/cluster/configuration.ts';
import { endProcessesIn, listProcessesIn, signalProcessesIn } from '../src/extra/faults/cluster/processes.ts';
import { startCuttableProxy } from '../src/extra/faults/cluster/proxy.ts';
import { type Round, toTable } from '../src/extra/faults/failover-table.ts';

t.test('Patroni uses version 3 of the API of etcd from 3.0.3 on', async (t) => {
  for (const version of ['2.1.4', '3.0.0', '3.0.2']) t.equal(chooseEtcdApi(version), 'etcd', version);
  for (const version of ['3.0.3', '3.1.0', '4.0.0', '4.0.4']) t.equal(chooseEtcdApi(version), 'etcd3', version);
});

t.test(
  'An event that did not arrive is lost, one of two deliveries is doubled, one that arrived again is not',
  async (t) => {
    t.strictSame(compareDeliveries([], []), { lost: [], doubled: [], repeated: 0 });
    const received = [
      { id: 'a', executionId: 1 },
      { id: 'a', executionId: 1 },
      { id: 'b', executionId: 2 },
      { id: 'c', executionId: 2 },
      { id: 'd', executionId: 4 },
    ];
    t.strictSame(compareDeliveries([1, 2, 3], received), {
      lost: [
        'lost: the event of execution 3 did not arrive',
        'lost: the event of execution 4 arrived, but it is not completed',
      ],
      doubled: ['doubled: execution 2 has 2 deliveries'],
      repeated: 1,
    });
  },
);

t.test('The table has medians and highest rounds of times, and sums of what was lost and doubled', async (t) => {
  const request = { kind: 'read', status: 503, failure: 'Away', id: null } as const;
  const round = (given: Partial<Round>): Round => ({
    failed: [],
    latenessMs: [5],
    lost: 0,
    doubled: 0,
    repeatedCalls: 0,
    failoverMs: 1000,
    ...given,
  });
  const failed = [
    { ...request, startedAt: 2000, endedAt: 2500 },
    { ...request, startedAt: 1000, endedAt: 4000 },
  ];
  const rounds = [
    round({ failed, lost: 1 }),
    round({ latenessMs: [9, 3500, 20], failoverMs: 3000, lost: 2, doubled: 1 }),
  ];
  const rows = toTable(new Map([['freezing', rounds]])).split('\n');
  t.equal(rows.length, 3);
  t.equal(rows[2], '| freezing | 2 | 2.00 (3.00) | 1.50 (3.00) | 0.500 | 3 | 1 | 0 |');
});

t.test('A cut passes nothing and closes nothing, and ends with new connections', async (t) => {
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  const target = createServer((socket) => socket.pipe(socket).on('error', () => {}));
  await once(target.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => target.close());
  const proxy = await startCuttableProxy(stack, (target.address() as AddressInfo).port);
  const open = async () => {
    const socket = connect(proxy.port, '127.0.0.1').on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  const say = async (socket: Socket, text: string) => {
    socket.write(text);
    const [echo] = await once(socket, 'data');
    return String(echo);
  };
  const before = await open();
  t.equal(await say(before, 'hello'), 'hello');
  proxy.cut();
  const during = await open();
  const heard: string[] = [];
  for (const socket of [before, during]) {
    socket.on('data', (data) => heard.push(String(data))).write('nothing answers');
  }
  const closed = Promise.all([before, during].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  proxy.restore();
  await closed;
  t.strictSame(heard, []);
  t.equal(await say(await open(), 'again'), 'again');
});

t.test(
  'The processes of a folder are found, stopped and ended, others are not',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const folder = realpathSync(t.testdir({ node: { data: {} }, 'node-2': {} }));
    const start = (path: string) => {
      const child = spawn('sleep', ['60'], { cwd: `${folder}/${path}` });
      t.teardown(() => child.kill('SIGKILL'));
      return child;
    };
    const children = [start('node'), start('node/data')];
    const other = start('node-2');
    const pids = children.map(({ pid }) => pid as number);
    await Promise.all([...children, other].map((child) => once(child, 'spawn')));
    t.strictSame(listProcessesIn(`${folder}/node`).sort(), pids.sort());
    signalProcessesIn(`${folder}/node`, 'SIGSTOP');
    await endProcessesIn(`${folder}/node`);
    t.strictSame(listProcessesIn(`${folder}/node`), []);
    t.strictSame(listProcessesIn(folder), [other.pid]);
  },
);
