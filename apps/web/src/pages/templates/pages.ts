import type { PageRoutes } from '../../http/routes.ts';
import { downloadTemplate, openFile } from './file.ts';
import { renderTemplates } from './list.ts';

export function templatePages({ user }: PageRoutes): void {
  user('GET', '/templates', (context) => renderTemplates(context));
  user('POST', '/templates', openFile);
  user('GET', '/tasks/:id/template', downloadTemplate);
}
