import { styleText } from 'node:util';
import type { DoctorTexts, Finding } from '@carillon/api/product/system/checks/finding';
import { InvalidArgumentError } from 'commander';
import { type AddCommand, CommandFailure } from './command.ts';
import { runChecks } from './doctor/run-checks.ts';
import { startProgressBar } from './progress-bar.ts';

export const addDoctorCommand: AddCommand = (program, context) => {
  const { doctor: texts, help } = context.texts;
  const parseCount = (value: string) => {
    if (/^[1-9]\d{0,3}$/.test(value)) return Number(value);
    throw new InvalidArgumentError(help.doctor.processesRange);
  };
  program
    .command('doctor')
    .summary(help.doctor.summary)
    .description(help.doctor.description)
    .option('--processes <n>', help.doctor.processes, parseCount, 1)
    .option('--json', help.doctor.json)
    .action(async ({ processes, json }: { processes: number; json?: true }) => {
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
