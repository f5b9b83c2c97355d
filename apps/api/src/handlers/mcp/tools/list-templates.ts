import { strictObject } from '@carillon/contract/primitives';
import { Type } from '@sinclair/typebox';
import { listTemplates as list } from '../../../product/tasks/templates/list-templates.ts';
import { defineTool } from '../tool.ts';

export const listTemplates = defineTool({
  name: 'list_templates',
  title: 'List templates',
  description:
    'Lists templates of tasks; with `id`, shows one. Ask the user for each of its `blanks`, replace `[key]` in `task` (percent-encoded within a URL), and give the result to create_task.',
  scope: 'tasks:read',
  as: 'GET /api/templates',
  input: strictObject({ id: Type.Optional(Type.String({ maxLength: 100 })) }),
  output: Type.Object({ templates: Type.Array(Type.Object({ id: Type.String(), task: Type.Object({}) })) }),
  hints: { readOnlyHint: true, openWorldHint: false },
  async run({ caller }, { id }) {
    const templates = list(caller).filter((template) => id === undefined || template.id === id);
    const lines = templates.map((template) =>
      id === undefined ? `- ${template.id}: ${template.name}. ${template.purpose}` : JSON.stringify(template),
    );
    return { text: lines.length === 0 ? 'There is no such template.' : lines.join('\n'), data: { templates } };
  },
});
