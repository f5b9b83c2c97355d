import type { PageRoutes } from '../../http/routes.ts';
import { askRun } from './ask.ts';
import { deliverAgain, retryRun, runAgain, stopRun } from './buttons.ts';
import { downloadRuns } from './csv.ts';
import { CSV_PATH, showRuns } from './list.ts';
import { seeRuns } from './mark-seen.ts';
import { showRun } from './run.ts';
import { showRunAsText } from './text.ts';

export function runPages({ user, text, answer }: PageRoutes): void {
  user('GET', '/executions', showRuns);
  user('GET', CSV_PATH, downloadRuns);
  user('POST', '/executions/seen', seeRuns);
  user('GET', '/executions/:id', showRun);
  text('/executions/:id/text', showRunAsText);
  user('POST', '/executions/:id/retry', retryRun);
  user('POST', '/executions/:id/cancel', stopRun);
  user('POST', '/executions/:id/run-again', runAgain);
  user('POST', '/executions/:id/deliver-again', deliverAgain);
  answer('/executions/:id/ask', askRun);
}
