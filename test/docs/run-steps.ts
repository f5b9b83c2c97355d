import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Step } from './pages.ts';

/** Runs the blocks in one bash and returns the output of each; throws with the output if a command fails. */
export async function runSteps(
  steps: readonly Pick<Step, 'code' | 'line'>[],
  { cwd, env, timeoutMs = 120_000 }: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs?: number },
): Promise<string[]> {
  const mark = `--- ${randomBytes(8).toString('hex')}`;
  const script = ['set -euo pipefail', ...steps.map(({ code }) => `${code}\necho '${mark}'`)].join('\n');
  const bash = spawn('bash', ['-c', script], { cwd, env, timeout: timeoutMs, stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, errors, code] = await Promise.all([
    text(bash.stdout),
    text(bash.stderr),
    new Promise((resolve) => bash.once('close', resolve)),
  ]);
  const parts = printed.split(`${mark}\n`);
  if (code !== 0) {
    const failed = steps[parts.length - 1];
    throw new Error(`The block at line ${failed?.line} failed (${code}):\n${parts.at(-1)}\n${errors}`);
  }
  return parts.slice(0, -1);
}

async function text(stream: NodeJS.ReadableStream): Promise<string> {
  let all = '';
  for await (const piece of stream.setEncoding('utf8')) all += piece;
  return all;
}
