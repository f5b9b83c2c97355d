import type { Template, TemplateNeed } from '@carillon/contract/tasks/templates';

type TemplateTask = Template['task'];

/** What a template has not: a file of somebody else could send answers to addresses of its author. */
const OF_ACCOUNT = ['externalId', 'attachments', 'webhookUrl', 'notificationEmail', 'channels', 'inputs'] as const;

/** The task without the tools of the provider and the searches that are missing: it could not be saved with them. */
export function omitMissing(task: TemplateTask, missing: readonly TemplateNeed[]): TemplateTask {
  const { tools = [], requireTools, sources = [], runIf, ...rest } = task;
  for (const field of OF_ACCOUNT) delete rest[field];
  const keptTools = tools.filter((tool) => !missing.includes(tool));
  const keptSources = sources
    .filter(({ search }) => search === undefined || !missing.includes('search'))
    .map(({ secret: _secret, ...source }) => source);
  return {
    ...rest,
    ...(keptTools.length > 0 && { tools: keptTools, ...(requireTools && { requireTools }) }),
    ...(keptSources.length > 0 && { sources: keptSources, ...(runIf && { runIf }) }),
  };
}
