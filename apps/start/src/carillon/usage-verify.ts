import { findWrongTaskCounts } from '@carillon/api/tasks/verify';
import { findWrongTotals } from '@carillon/api/uploads/totals';
import { findWrongCounters } from '@carillon/api/usage/verify';
import { connect } from '@carillon/db';
import { type AddCommand, withConfig, withDatabase } from './command.ts';
import { inParagraphs } from './wording.ts';

/** The ledger of a large installation is long; nobody waits for this but the operator. */
const DEADLINE_MS = 10 * 60_000;
const CANNOT_TELL = 2;

/** `pnpm carillon usage verify`. */
export const usageCommand: AddCommand = (program, surroundings) => {
  program
    .command('usage')
    .summary('verify the counters that the quotas go by')
    .description('Commands about what people have used.')
    .command('verify')
    .summary('compare the counters with the ledger, the uploads and the tasks')
    .description(
      inParagraphs(`Adds up the usage ledger and the uploads anew, counts the tasks, and compares all of it with the counters that the
quotas and lists go by. It changes nothing and can be run while the service works. Ends with 0 when they agree, with 1
when they differ, and with 2 when it cannot tell.`),
    )
    .action(() =>
      withConfig(
        surroundings,
        (config) =>
          withDatabase(config, async (url) => {
            if (!(await verifyUsage(url, console.log))) surroundings.endWith(1);
          }),
        CANNOT_TELL,
      ),
    );
};

/** Whether the counters of a database are what they should be. `say` is told in a line each what differs. */
export async function verifyUsage(url: string, say: (line: string) => void): Promise<boolean> {
  const { db, close } = connect(url, { max: 1, deadlineMs: DEADLINE_MS });
  try {
    const counters = await findWrongCounters(db);
    for (const { userId, period, counted, expected } of counters) {
      const figures = differences(['executions', 'tokens', 'tokensReserved'], counted, expected);
      say(`User ${userId}, ${period}: ${figures}`);
    }
    const totals = await findWrongTotals(db);
    for (const { userId, counted, due } of totals) {
      say(`User ${userId}, uploads: ${differences(['bytes', 'files'], counted, due)}`);
    }
    const counts = await findWrongTaskCounts(db);
    for (const { userId, counted, expected } of counts) say(`User ${userId}: tasks ${counted} instead of ${expected}`);
    if (counters.length === 0) say('All usage counters are the sum of the ledger and of what runs.');
    else say(`${counters.length} usage counters differ from the ledger.`);
    if (totals.length === 0) say('All totals of storage are the sum of the uploads.');
    else say(`${totals.length} totals of storage differ from the uploads.`);
    if (counts.length === 0) say('All numbers of tasks are those of the tasks there are.');
    else say(`${counts.length} numbers of tasks differ from the tasks there are.`);
    return counters.length + totals.length + counts.length === 0;
  } finally {
    await close();
  }
}

/** Each figure that differs. */
const differences = <K extends string>(names: readonly K[], counted: Record<K, number>, due: Record<K, number>) =>
  names
    .filter((name) => counted[name] !== due[name])
    .map((name) => `${name} ${counted[name]} instead of ${due[name]}`)
    .join(', ');
