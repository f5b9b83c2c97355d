import type { TaskSettingsInput } from '@carillon/contract/actions/web/task-form';
import { isUuid } from '@carillon/contract/validation/formats';
import type { StoredTask } from '../../../actions.ts';
import type { Page, UserPageContext } from '../../../page.ts';
import { hasErrors, type Problems, toTaskErrors, toTaskStatus, withProblems } from '../problems.ts';
import { isBlank } from '../template/blanks.ts';
import { describeTask } from './prompt-preview.ts';
import type { TrialOutcome } from './trial.ts';

/** What is needed to try a prompt, its schema and the watched values. */
const TRIED = [
  'prompt',
  'aiModel',
  'maxTokens',
  'temperature',
  'files',
  'answerAs',
  'fieldName',
  'outputSchema',
  'tools',
  'maxToolUses',
  'inputs',
  'watch',
  'sources',
];

interface TrialTask {
  settings: TaskSettingsInput;
  problems: Problems;
  timezone: string;
  task: StoredTask | null;
  /** The id of the trial on the page; undefined without one. */
  after: string | undefined;
  /** The run whose time, data and earlier results are used; null for now. */
  asOf?: number | null;
}

/** Sends the prompt, and shows the form again with the answer. */
export async function tryTask(
  { actions, session, stream, texts }: UserPageContext,
  { settings, problems, timezone, task, after, asOf = null }: TrialTask,
  show: (outcome: TrialOutcome & { status?: number }) => Promise<Page>,
): Promise<Page> {
  const { prompt, aiModel = '', maxTokens, temperature, attachments, maxToolUses, watch = [] } = settings;
  const failure = texts.taskForm.notTried;
  const refuse = (result: Parameters<typeof toTaskErrors>[0]) =>
    show({ errors: toTaskErrors(result, texts), status: toTaskStatus(result), failure });
  const errors = withProblems(
    Object.fromEntries(Object.entries(problems).filter(([field]) => TRIED.includes(field) || isBlank(field))),
  );
  if (hasErrors(errors)) return show({ errors, status: 422, failure });
  // Paths that are none are refused before the model is asked, which costs.
  const paths = await actions.tryWatch(session, { text: '', watch });
  if (!paths.success) return refuse(paths);
  const input = {
    ...describeTask({ ...settings, timezone }, task?.id ?? null),
    prompt,
    aiModel,
    maxTokens,
    temperature,
    attachments,
    maxToolUses,
    ...(after !== undefined && isUuid(after) && { after }),
    ...(asOf !== null && task && { asOf }),
  };
  const result = await actions.tryPrompt(session, input, stream);
  if (!result.success) return refuse(result);
  const { answer, output, problems: mismatches } = result.data;
  if (mismatches.length > 0) return show({ trial: { ...result.data, watched: null } });
  const given = output === null ? { text: answer } : { output };
  const watched = await actions.tryWatch(session, { ...(task && { taskId: task.id }), ...given, watch });
  return show({ trial: { ...result.data, watched: watched.success ? watched.data : null } });
}
