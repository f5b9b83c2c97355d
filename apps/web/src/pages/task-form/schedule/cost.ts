import type { WebActionData } from '../../../actions.ts';
import { EMPTY, type Html, html } from '../../../html.ts';
import type { UserPageContext } from '../../../page.ts';
import type { FormValues } from '../form-values.ts';
import { readLimits, readSettings } from '../settings/read-settings.ts';
import type { Plan } from './plan.ts';

type Cost = WebActionData<'estimateCost'>;

/** What the task will cost; null while its schedule or its settings are not clear. `id`: of a stored task. */
export async function estimateCost(
  { actions, session, texts }: UserPageContext,
  values: FormValues,
  { schedule }: Plan,
  { id, plannedRuns }: { id: number | undefined; plannedRuns: number },
): Promise<Cost> {
  if (!schedule) return null;
  const { settings } = readSettings(values, null, texts);
  const { fallbackModels, outputSchema, tools, maxToolUses, notify } = settings;
  const result = await actions.estimateCost(session, {
    ...schedule,
    ...readLimits(values, null, texts),
    plannedRuns,
    ...(id !== undefined && { id }),
    prompt: values.prompt,
    aiModel: values.aiModel,
    maxTokens: Number(values.maxTokens),
    fallbackModels,
    outputSchema,
    tools,
    maxToolUses,
    notify,
    attachments: [...values.attachments],
  });
  return result.success ? result.data : null;
}

/** The price of a run, and of 30 days. */
export function renderCost({ texts }: UserPageContext, cost: Cost): Html {
  if (cost === null) return EMPTY;
  const { taskForm, formats } = texts;
  const { runs, perRunUsd, basis } = cost;
  if (perRunUsd === null) return html`<p class="hint">${taskForm.noPrice(runs)}</p>`;
  const say = basis === 'runs' ? taskForm.costAbout : taskForm.costAtMost;
  return html`<p>${say(formats.money(perRunUsd), formats.money(perRunUsd * runs), runs)}</p>`;
}
