import type { WebActionData } from '../../actions.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { writeCsv } from '../../http/csv.ts';
import type { Download, Page } from '../../page.ts';
import { type UserPageContext, unwrap } from '../../page.ts';
import { readFilter, showRefused } from './list.ts';
import { describeError, describeOutcome, timeOf } from './outcomes.ts';

const PAGE_SIZE = 100;

type Runs = WebActionData<'listRuns'>;

/** The runs of the list, all pages of it. */
export async function downloadRuns(context: UserPageContext): Promise<Page | Download> {
  const { filter, input } = readFilter(context);
  const { actions, session, texts, timeZone } = context;
  const read = (cursor?: string) =>
    actions.listRuns(session, { ...input, ...(cursor !== undefined && { cursor }), limit: PAGE_SIZE });
  const first = await read();
  if (!first.success) return showRefused(context, filter, first);
  const { runs } = texts;
  const head = [
    runs.csv.number,
    runs.csv.at(timeZone),
    runs.task,
    runs.outcome,
    runs.csv.attempt,
    runs.csv.seconds,
    runs.csv.usd,
    runs.csv.error,
    runs.csv.answerStart,
  ];
  const rows = listRows(context, first.data, async (cursor) => unwrap(await read(cursor)));
  return { fileName: 'carillon-runs.csv', type: 'text/csv; charset=utf-8', content: writeCsv(head, rows) };
}

async function* listRows({ texts, timeZone }: UserPageContext, first: Runs, read: (cursor: string) => Promise<Runs>) {
  for (let page = first; ; page = await read(page.nextCursor)) {
    for (const run of page.runs) {
      const { date, time } = toLocalTime(timeOf(run), timeZone);
      yield [
        run.id,
        `${date} ${time}`,
        run.taskName,
        describeOutcome(texts, run).text,
        run.attempt,
        run.processingTimeMs === null ? null : run.processingTimeMs / 1000,
        run.costUsd,
        run.error && describeError(texts, run),
        run.resultStart,
      ];
    }
    if (page.nextCursor === null) return;
  }
}
