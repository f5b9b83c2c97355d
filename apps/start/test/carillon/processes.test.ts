import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findFreePort } from '../../../../test/system/ports.ts';
import { takeDataOption } from '../../src/carillon/processes.ts';
import { runCarillon } from './run-carillon.ts';

const cwd = t.testdir();

t.test('The data folder may be before and after a command, and an incomplete one is reported', async (t) => {
  for (const given of [
    ['--data', 'd', 'doctor', '--json'],
    ['doctor', '--data=d', '--json'],
    ['doctor', '--json', '--data', 'd'],
  ]) {
    t.same(takeDataOption(given), { args: ['doctor', '--json'], dataDir: 'd' });
  }
  t.same(takeDataOption(['start', '--', '--data', 'd']).dataDir, null);
  for (const given of [
    ['start', '--data'],
    ['start', '--data='],
    ['start', '--data', '--json'],
  ]) {
    t.match(await runCarillon(given, {}, { cwd }), { code: 2, out: '', err: /--data/ });
  }
});

t.test('A process is started by its name alone; help and wrong arguments start nothing', async (t) => {
  t.match(await runCarillon(['start', '--help'], {}, { cwd }), { code: 0, out: /^Usage: carillon start/ });
  t.match(await runCarillon(['api', 'now'], {}, { cwd }), { code: 2, err: /too many arguments/ });
  t.notOk(existsSync(join(cwd, '.data')));
  t.match(await runCarillon(['scheduler'], { NODE_ENV: 'production' }, { cwd }), {
    code: 1,
    err: 'Production needs CRON_SECRET, the same as for the API.\n',
  });
  t.match(await runCarillon(['api'], { PORT: 'x' }, { cwd }), { code: 1, err: /^PORT is "x"/ });
});

t.test('A started process stops by a signal, with code 0, and has its data where --data says', async (t) => {
  const env = { PORT: String(await findFreePort()), LOG_LEVEL: 'error' };
  const given = ['start', '--data', 'elsewhere'];
  const onStart = (pid: number) => {
    const timer = setInterval(async () => {
      if (!(await fetch(`http://127.0.0.1:${env.PORT}/api/health`).catch(() => null))) return;
      clearInterval(timer);
      process.kill(pid, 'SIGTERM');
    }, 200);
  };
  t.match(await runCarillon(given, env, { cwd, onStart }), { code: 0, err: '' });
  t.ok(existsSync(join(cwd, 'elsewhere/secrets.json')));
});
