import { findWrongTaskCounts } from '@carillon/api/product/tasks/verify';
import { findWrongTotals } from '@carillon/api/product/uploads/totals';
import { findWrongCounters } from '@carillon/api/product/usage/verify';
import { connect } from '@carillon/db';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { joinParagraphLines } from './formatting.ts';

/** The usage ledger of a large installation is long. */
const STATEMENT_TIMEOUT_MS = 10 * 60_000;
const FAILED = 2;

const DESCRIPTION = `Adds up the usage ledger and the uploads, counts the tasks, and compares the results with the counters
of quotas and lists. It changes nothing; the service can run at the same time. The exit code is 0 if they match, 1 if they differ,
and 2 for a failure.`;

export const addUsageCommand: AddCommand = (program, context) => {
  program
    .command('usage')
    .summary('verify the counters of quotas')
    .description('Commands for the usage of quotas.')
    .command('verify')
    .summary('compare the counters with the ledger, the uploads and the tasks')
    .description(joinParagraphLines(DESCRIPTION))
    .action(() =>
      withConfig(
        context,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await verifyUsage(url, console.log))) context.setExitCode(1);
          }),
        FAILED,
      ),
    );
};

/** Returns whether all counters of a database are right. `print` receives one line for each difference and a summary. */
export async function verifyUsage(url: string, print: (line: string) => void): Promise<boolean> {
  const { db, close } = connect(url, { max: 1, deadlineMs: STATEMENT_TIMEOUT_MS });
  try {
    // In transactions the time limit applies behind any pooler.
    const counters = await db.transaction(findWrongCounters);
    for (const { userId, period, counted, expected } of counters) {
      const differences = describeDifferences(['executions', 'tokens', 'tokensReserved'], counted, expected);
      print(`User ${userId}, ${period}: ${differences}`);
    }
    const totals = await db.transaction(findWrongTotals);
    for (const { userId, counted, due } of totals) {
      print(`User ${userId}, uploads: ${describeDifferences(['bytes', 'files'], counted, due)}`);
    }
    const counts = await db.transaction(findWrongTaskCounts);
    for (const { userId, counted, expected } of counts) {
      print(`User ${userId}: tasks ${counted} instead of ${expected}`);
    }
    print(
      counters.length === 0
        ? 'All usage counters match the ledger.'
        : `Usage counters that differ from the ledger: ${counters.length}.`,
    );
    print(
      totals.length === 0
        ? 'All storage totals match the uploads.'
        : `Storage totals that differ from the uploads: ${totals.length}.`,
    );
    print(
      counts.length === 0
        ? 'All task counts match the tasks.'
        : `Task counts that differ from the tasks: ${counts.length}.`,
    );
    return counters.length + totals.length + counts.length === 0;
  } finally {
    await close();
  }
}

const describeDifferences = <K extends string>(
  names: readonly K[],
  counted: Record<K, number>,
  expected: Record<K, number>,
) =>
  names
    .filter((name) => counted[name] !== expected[name])
    .map((name) => `${name} ${counted[name]} instead of ${expected[name]}`)
    .join(', ');
