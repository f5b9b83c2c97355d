import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Options {
  cwd?: string;
  /** Without PATH, that of the machine. */
  env?: Readonly<Record<string, string>>;
}

export interface Ended {
  code: number | null;
  /** Of both streams. */
  output: string;
}

/** Without programs and Node options of the repository, as on another machine. */
export const MACHINE_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules') && !/npx-shell|_npx/.test(folder))
  .join(':');

/** How this machine reaches a registry and a mirror too. */
const MACHINE_ENVIRONMENT = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(HOME|NODE_EXTRA_CA_CERTS|npm_config_registry|.*_proxy)$/i.test(name),
    ),
  ),
  PATH: MACHINE_PATH,
};

/** Runs a program to its end. */
export async function run(program: string, args: readonly string[], options: Options = {}): Promise<Ended> {
  const child = start(program, args, options);
  const ended = once(child.process, 'close');
  const [code] = await ended;
  return { code, output: child.output() };
}

/** Runs a program that has to succeed, and returns what it printed. */
export async function succeed(program: string, args: readonly string[], options: Options = {}): Promise<string> {
  const { code, output } = await run(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

/** Starts a program; `output` is what it has printed. */
export function start(program: string, args: readonly string[], { cwd = '/', env = {} }: Options = {}) {
  // Without the Node options that tap gives to every child.
  const child: ChildProcess = spawn('env', ['-u', 'NODE_OPTIONS', program, ...args], {
    cwd,
    env: { ...MACHINE_ENVIRONMENT, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  return { process: child, output: () => output };
}

/** Waits until a process of the API is ready. */
export async function waitUntilReady(url: string, service: { process: ChildProcess; output(): string }): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const answer = await fetch(`${url}/api/health/ready`).catch(() => null);
    if (answer?.ok) return;
    if (service.process.exitCode !== null) break;
    await sleep(200);
  }
  throw new Error(`It is not ready at ${url}:\n${service.output()}`);
}

/** Calls the API with curl, and returns its answer. */
export async function curl(url: string, token: string | null, body?: object): Promise<Record<string, unknown>> {
  const headers = ['Content-Type: application/json', 'X-Request-Token: true'];
  if (token !== null) headers.push(`Authorization: Bearer ${token}`);
  const data = body ? ['--data', JSON.stringify(body)] : [];
  const args = ['-sS', '--fail-with-body', ...headers.flatMap((header) => ['-H', header]), ...data, url];
  return JSON.parse(await succeed('curl', args));
}

const ACCOUNT = { email: 'ada@example.com', password: 'Carillon-2026' };

/** Registers an account, and returns a token. */
export async function signUp(url: string): Promise<string> {
  await curl(`${url}/api/auth/register`, null, { name: 'Ada', ...ACCOUNT });
  return signIn(url);
}

/** Returns a token of the account that `signUp` registers. */
export async function signIn(url: string): Promise<string> {
  return String((await curl(`${url}/api/auth/login`, null, ACCOUNT)).token);
}

/** Creates a task that the scheduler runs in two seconds, and waits for its result. */
export async function runTask(url: string, token: string, name: string): Promise<unknown> {
  const scheduledFor = new Date(Date.now() + 2000).toISOString();
  const task = { name, prompt: 'Write one sentence.', scheduledFor, recurrence: 'daily', timezone: 'Europe/Berlin' };
  await curl(`${url}/api/agent/create-task`, token, task);
  for (let attempt = 0; attempt < 300; attempt++) {
    const { executions } = (await curl(`${url}/api/executions?limit=1&status=completed`, token)) as {
      executions: { taskName?: string; result: unknown }[];
    };
    if (executions[0]) return executions[0].result;
    await sleep(200);
  }
  throw new Error('The task did not run.');
}
