import type { WebActionData } from '../../actions.ts';
import { writeCsv } from '../../http/csv.ts';
import { readQuery } from '../../http/forms.ts';
import type { Download } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';

/** The usage of a month by day, task and model. */
export async function downloadUsage(context: UserPageContext): Promise<Download> {
  const { actions, session, request, texts } = context;
  const { month } = readQuery(request);
  const { period, days } = unwrap(await actions.getUsageMonth(session, month ? { month } : {}));
  const { usage } = texts;
  const head = [
    usage.csv.day,
    usage.task,
    usage.model,
    usage.csv.provider,
    usage.runs,
    usage.tokensIn,
    usage.tokensOut,
    usage.csv.usd,
    usage.webTools,
  ];
  const rows = listRows(context, days);
  return { fileName: `carillon-usage-${period}.csv`, type: 'text/csv; charset=utf-8', content: writeCsv(head, rows) };
}

async function* listRows(
  { actions, session, texts: { usage } }: UserPageContext,
  days: WebActionData<'getUsageMonth'>['days'],
) {
  for (const { day } of days) {
    const { calls } = unwrap(await actions.getUsageDay(session, { day }));
    for (const { kind, taskName, model, provider, executions, inputTokens, outputTokens, costUsd, toolUses } of calls) {
      const name = kind === 'agent' ? usage.agent : (taskName ?? usage.deletedTasks);
      yield [
        day,
        name,
        model ?? usage.unknownModel,
        provider,
        executions,
        inputTokens,
        outputTokens,
        costUsd,
        toolUses,
      ];
    }
  }
}
