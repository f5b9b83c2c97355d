import { NO_ERRORS, renderFormError, toStatus } from '../../components/fields.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type PageResponse, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { describeFailure } from '../agent/agent.ts';
import { renderQuestion } from './questions.ts';
import { renderRunPage } from './run.ts';

/** Asks about the answer of a run; a script gets the question with its answer. */
export async function askRun(context: UserPageContext): Promise<PageResponse> {
  const { actions, session, stream } = context;
  const id = readId(context);
  const message = readForm(context.request).text('message');
  const result = await actions.askRun(session, { id, message }, stream);
  if (result.success && !stream) return redirect(`/executions/${id}#ask`);
  const data = unwrap(await actions.getRun(session, { id }));
  const { questions, task } = data.run;
  if (result.success) {
    const last = questions.at(-1);
    return { ...renderRunPage(context, data), ...(last && { answer: renderQuestion(context, last, task.id) }) };
  }
  const errors = describeFailure(result, context);
  return {
    ...renderRunPage(context, data, NO_ERRORS, { message, errors }),
    ...(errors.form !== null && { answer: renderFormError(errors, context.texts) }),
    status: toStatus(result),
  };
}
