import { styleText } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { type AddCommand, CommandFailure } from './command.ts';
import { examine } from './doctor/examine.ts';
import type { Finding } from './doctor/finding.ts';
import { startProgress } from './progress.ts';
import { inParagraphs } from './wording.ts';

const ABOUT = `Looks at the settings (each of them), the strength of the secrets, the database (reachable, version, privileges, schema,
clock, connections), whether ENCRYPTION_KEY opens what is sealed, the scheduler, the AI provider (one tiny call), the mail
server (log-in, no mail), the storage of files (one small object, which is removed again), DATA_DIR, and whether clients
reach this version at BASE_URL. It changes nothing, and can be run before the first start as well as while the service works.

Each finding is ok, a warning, or a fault with what to mend. Ends with 1 when there is a fault.`;

/** `pnpm carillon doctor`. */
export const doctorCommand: AddCommand = (program, surroundings) => {
  program
    .command('doctor')
    .summary('find out what keeps this installation from working')
    .description(
      inParagraphs(`Finds out what keeps this installation from working, and says what to mend.\n\n${ABOUT}`),
    )
    .option('--processes <n>', 'how many API processes are to share the database', asCount, 1)
    .option('--json', 'tell the findings as JSON')
    .action(async ({ processes, json }: { processes: number; json?: true }) => {
      const progress = startProgress('Looking at');
      try {
        const findings = await examine(surroundings.env, {
          processes,
          onCheck: (check, done, of) => {
            surroundings.signal.throwIfAborted();
            progress.show(done, of, check);
          },
        });
        progress.end();
        const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
        const [faults, warnings] = [count('fault'), count('warning')];
        if (faults > 0) surroundings.endWith(1);
        if (json) return console.log(JSON.stringify({ findings, faults, warnings }));
        for (const finding of findings) console.log(inWords(finding));
        console.log(faults + warnings === 0 ? '\nAll is well.' : `\n${faults} faults, ${warnings} warnings.`);
      } catch (error) {
        if (!surroundings.signal.aborted) throw error;
        throw new CommandFailure((error as Error).message);
      } finally {
        progress.end();
      }
    });
};

const SIGNS = { ok: ['green', '✓'], warning: ['yellow', '!'], fault: ['red', '✗'] } as const;

function inWords({ check, level, message, mend }: Finding): string {
  const [colour, sign] = SIGNS[level];
  const line = `${styleText(colour, sign, { stream: process.stdout })} ${check}: ${message}`;
  return mend ? `${line}\n    ${mend}` : line;
}

function asCount(value: string): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It takes a whole number from 1.');
}
