import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const SOURCE = fileURLToPath(new URL('../src/index.ts', import.meta.url));
const CODE = `
  const { openLogDestination } = await import(${JSON.stringify(SOURCE)});
  const { pino } = await import('pino');
  pino({ name: 'scheduler' }, await openLogDestination()).info({ applied: 3 }, 'started');`;
const ENV = { PATH: process.env.PATH, NO_COLOR: '1', CODE };
const COMMAND = `"${process.execPath}" --input-type=module --eval "$CODE"`;
const cwd = fileURLToPath(new URL('..', import.meta.url));

const skip = process.platform === 'linux' ? false : 'script, which runs a command on a terminal, has other options';

t.test('A line on a terminal is readable', { skip }, async (t) => {
  const child = spawn('script', ['--quiet', '--return', '--command', COMMAND, '/dev/null'], { env: ENV, cwd });
  t.match(await text(child.stdout), /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO \(scheduler\): started \{"applied":3\}\r\n$/);
});

t.test('A line anywhere else is JSON', async (t) => {
  const child = spawn('sh', ['-c', COMMAND], { env: ENV, cwd });
  t.match(JSON.parse(await text(child.stdout)), { level: 30, name: 'scheduler', applied: 3, msg: 'started' });
});
