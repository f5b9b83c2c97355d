import t from 'tap';
import { openContext } from '../../src/entry/open-context.ts';
import { loadConfig } from '../../src/lib/config/config.ts';
import { listenForWakeUps } from '../../src/lib/queue/wake-ups.ts';
import { getData, TASK, testActions } from '../support/actions.ts';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, ctx, databaseUrl } = await testContext(t);
const alice = await signUpAlice(app);

t.test(
  'A run that a process without a worker queues wakes the workers of others, which do not have to poll',
  async (t) => {
    const env = { NODE_ENV: 'test', DATA_DIR: ctx.config.dataDir, LOG_LEVEL: 'fatal', DATABASE_URL: databaseUrl };
    const own = await openContext(loadConfig(env));
    t.teardown(own.close);
    const actions = testActions({ ...own.ctx, now: ctx.now, tokens: ctx.tokens });
    const woken = { executions: 0, deliveries: 0, looks: 0 };
    let onWake = () => {};
    const count = (queue: keyof typeof woken) => () => {
      woken[queue] += 1;
      onWake();
    };
    const { close } = listenForWakeUps(databaseUrl, {
      executions: count('executions'),
      deliveries: count('deliveries'),
      looks: count('looks'),
    });
    t.teardown(close);
    const untilWoken = async (queue: keyof typeof woken) => {
      while (woken[queue] === 0) await new Promise<void>((resolve) => (onWake = resolve));
      woken[queue] = 0;
    };
    await untilWoken('executions');
    await untilWoken('deliveries');

    const { id } = await getData(
      actions.createTask(alice.token, { ...TASK, webhookUrl: 'https://hooks.example.com/a' }),
    );
    await untilWoken('deliveries');
    t.equal(woken.executions, 0, 'a task that is not due wakes no runner');
    await getData(actions.executeTask(alice.token, id));
    await untilWoken('executions');
  },
);
