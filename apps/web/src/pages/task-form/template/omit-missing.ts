import type { Template, TemplateNeed } from '@carillon/contract/tasks/templates';

type TemplateTask = Template['task'];

/** The task without the tools of the provider and the searches that are missing: it could not be saved with them. */
export function omitMissing(task: TemplateTask, missing: readonly TemplateNeed[]): TemplateTask {
  const { tools = [], requireTools, sources = [], runIf, ...rest } = task;
  const keptTools = tools.filter((tool) => !missing.includes(tool));
  const keptSources = missing.includes('search') ? sources.filter(({ search }) => search === undefined) : sources;
  return {
    ...rest,
    ...(keptTools.length > 0 && { tools: keptTools, ...(requireTools && { requireTools }) }),
    ...(keptSources.length > 0 && { sources: keptSources, ...(runIf && { runIf }) }),
  };
}
