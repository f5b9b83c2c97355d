import { findWrongTaskCounts } from '@carillon/api/product/tasks/verify';
import { findWrongTotals } from '@carillon/api/product/uploads/totals';
import { findWrongCounters } from '@carillon/api/product/usage/verify';
import { connect } from '@carillon/db';
import type { Texts } from '@carillon/texts';
import { type AddCommand, withConfig, withDatabase } from './command.ts';

/** The usage ledger of a large installation is long. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;
const FAILED = 2;

export const addUsageCommand: AddCommand = (program, context) => {
  const { help } = context.texts;
  program
    .command('usage')
    .summary(help.usage.summary)
    .description(help.usage.description)
    .command('verify')
    .summary(help.verifyUsage.summary)
    .description(help.verifyUsage.description)
    .action(() =>
      withConfig(
        context,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await verifyUsage(url, context.texts, console.log))) context.setExitCode(1);
          }),
        FAILED,
      ),
    );
};

/** Returns whether all counters of a database are right. `print` receives one line for each difference and a summary. */
export async function verifyUsage(
  url: string,
  { commands: texts }: Texts,
  print: (line: string) => void,
): Promise<boolean> {
  const describe = <K extends string>(names: readonly K[], counted: Record<K, number>, expected: Record<K, number>) =>
    names
      .filter((name) => counted[name] !== expected[name])
      .map((name) => `${name} ${texts.insteadOf(counted[name], expected[name])}`)
      .join(', ');
  const { db, close } = connect(url, { max: 1, deadlineMs: STATEMENT_TIMEOUT_MS });
  try {
    // In transactions the time limit applies behind any pooler.
    const counters = await db.transaction(findWrongCounters);
    for (const { userId, period, counted, expected } of counters) {
      const differences = describe(['executions', 'tokens', 'tokensReserved'], counted, expected);
      print(texts.usageDiffers(userId, period, differences));
    }
    const totals = await db.transaction(findWrongTotals);
    for (const { userId, counted, due } of totals) {
      print(texts.usageDiffers(userId, texts.uploads, describe(['bytes', 'files'], counted, due)));
    }
    const counts = await db.transaction(findWrongTaskCounts);
    for (const { userId, counted, expected } of counts) {
      print(texts.tasksDiffer(userId, texts.insteadOf(counted, expected)));
    }
    print(counters.length === 0 ? texts.countersMatch : texts.countersDiffer(counters.length));
    print(totals.length === 0 ? texts.totalsMatch : texts.totalsDiffer(totals.length));
    print(counts.length === 0 ? texts.countsMatch : texts.countsDiffer(counts.length));
    return counters.length + totals.length + counts.length === 0;
  } finally {
    await close();
  }
}
