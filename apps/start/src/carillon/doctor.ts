import { styleText } from 'node:util';
import type { DoctorTexts, Finding } from '@carillon/api/product/system/checks/finding';
import { InvalidArgumentError } from 'commander';
import { type AddCommand, CommandFailure } from './command.ts';
import { runChecks } from './doctor/run-checks.ts';
import { joinParagraphLines } from './formatting.ts';
import { startProgressBar } from './progress-bar.ts';

const DESCRIPTION = `Finds problems of this installation and says how to fix them.

Checks each setting, the strength of the secrets, the database (connection, version, privileges, schema, clock, number of
connections), whether ENCRYPTION_KEY decrypts the secrets in it, the scheduler, waiting deliveries, the AI provider (one small call), the mail server
(log-in, no mail), the file storage (one small object, which is deleted again), DATA_DIR, and whether clients reach this version
at BASE_URL. It changes nothing, and can be run before the first start as well as while the service runs.

Each result is ok, a warning or a problem. The exit code is 1 if there is a problem.`;

export const addDoctorCommand: AddCommand = (program, context) => {
  program
    .command('doctor')
    .summary('find problems of this installation')
    .description(joinParagraphLines(DESCRIPTION))
    .option('--processes <n>', 'how many API processes share the database', parseCount, 1)
    .option('--json', 'print the results as JSON')
    .action(async ({ processes, json }: { processes: number; json?: true }) => {
      const texts = context.texts.doctor;
      const progress = startProgressBar(texts.checking);
      try {
        const findings = await runChecks(context.env, texts, {
          processes,
          onCheck: (check, done, total) => {
            context.signal.throwIfAborted();
            progress.show(done, total, texts.checks[check]);
          },
        });
        progress.end();
        const count = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
        const problems = count('problem');
        const warnings = count('warning');
        if (problems > 0) context.setExitCode(1);
        if (json) return console.log(JSON.stringify({ findings, problems, warnings }));
        for (const finding of findings) console.log(formatFinding(finding, texts));
        console.log(`\n${texts.found(problems, warnings)}`);
      } catch (error) {
        if (!context.signal.aborted) throw error;
        throw new CommandFailure((error as Error).message);
      } finally {
        progress.end();
      }
    });
};

const SIGNS = { ok: ['green', '✓'], warning: ['yellow', '!'], problem: ['red', '✗'] } as const;

function formatFinding({ check, level, message, fix }: Finding, texts: DoctorTexts): string {
  const [colour, sign] = SIGNS[level];
  const line = `${styleText(colour, sign, { stream: process.stdout })} ${texts.checks[check]}: ${message}`;
  return fix ? `${line}\n    ${fix}` : line;
}

function parseCount(value: string): number {
  if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It takes a whole number from 1 to 9999.');
}
