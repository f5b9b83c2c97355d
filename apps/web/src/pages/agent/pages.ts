import { readForm } from '../../http/forms.ts';
import type { PageRoutes } from '../../http/routes.ts';
import { nameTask } from '../task-form/name-task.ts';
import { proposeTask } from '../task-form/show.ts';
import { askAgent, showAgent, showDraft } from './agent.ts';
import { saveProposal } from './proposal.ts';

export function agentPages({ user, answer }: PageRoutes): void {
  user('GET', '/agent', showAgent);
  answer('/agent', askAgent);
  user('POST', '/agent/draft', showDraft);
  user('POST', '/agent/task', (context) => {
    const prompt = readForm(context.request).text('asked');
    return proposeTask(context, { name: nameTask(prompt, context.texts), prompt });
  });
  user('POST', '/agent/proposals/:id', saveProposal);
}
