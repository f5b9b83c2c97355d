import { loadavg } from 'node:os';
import { admin } from './admin.ts';
import { equalAnswers } from './equal-answers.ts';
import { lateness } from './lateness.ts';
import { outage } from './outage.ts';
import { webhooks } from './webhooks.ts';

/** A measurement: what it starts goes on `stack`; prints what it found. */
export interface Bench {
  about: string;
  run(stack: AsyncDisposableStack): Promise<void>;
}

const BENCHES: Record<string, Bench> = { admin, lateness, 'equal-answers': equalAnswers, outage, webhooks };
/** However wrong it goes, nothing is left running after so long. */
const LONGEST_MS = 10 * 60_000;

const name = process.argv.slice(2).find((argument) => argument !== '--');
const bench = BENCHES[name ?? ''];
if (!bench) {
  if (name) console.error(`There is no bench ${JSON.stringify(name)}.`);
  console.log('pnpm bench <name>\n');
  for (const [name, { about }] of Object.entries(BENCHES)) console.log(`  ${name.padEnd(12)} ${about}`);
  process.exit(name ? 1 : 0);
}

const stack = new AsyncDisposableStack();
const giveUp = async (why: string, code: number) => {
  console.error(why);
  await stack.disposeAsync();
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp('Interrupted.', 130));
setTimeout(() => giveUp(`It took longer than ${LONGEST_MS / 60_000} minutes.`, 1), LONGEST_MS).unref();

console.log(`Load of the machine before: ${loadavg()[0]?.toFixed(1)}`);
try {
  await bench.run(stack);
} finally {
  await stack.disposeAsync();
}
