import type { PageRoutes } from '../../http/routes.ts';
import { askAgent, showAgent, showAnswer, showDraft } from './agent.ts';

export function agentPages({ user, fragment }: PageRoutes): void {
  user('GET', '/agent', showAgent);
  user('POST', '/agent', askAgent);
  user('POST', '/agent/draft', showDraft);
  fragment('POST', '/agent/answer', showAnswer);
}
