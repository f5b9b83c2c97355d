import { type Template, TemplateFile } from '@carillon/contract/tasks/templates';
import { compileValidator } from '@carillon/contract/validation/validator';
import { translateApiMessage } from '@carillon/texts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { readFiles } from '../../http/sent-files.ts';
import { type Download, type Page, type UserPageContext, unwrap } from '../../page.ts';
import { withProblems } from '../task-form/problems.ts';
import { showTemplate } from '../task-form/show.ts';
import { renderTemplates } from './list.ts';

const MAX_BYTES = 1024 * 1024;

const validate = compileValidator(TemplateFile);

/** Opens the form with the template of a file, or of a text. */
export async function openFile(context: UserPageContext): Promise<Page> {
  const { texts, request } = context;
  const { templates } = texts;
  const [file] = readFiles(request);
  const typed = readForm(request).text('text').trim();
  const field = file ? 'file' : 'text';
  const refuse = (message: string) => renderTemplates(context, withProblems({ [field]: [message] }), typed);
  if (file && (file.bytes === null || file.bytes.length > MAX_BYTES)) return refuse(templates.tooLong);
  const text = file?.bytes ? file.bytes.toString('utf8') : typed;
  if (text.trim() === '') return refuse(templates.noFile);
  const given = parse(text);
  if (given === undefined) return refuse(templates.notJson);
  const checked = validate(given);
  if (checked.ok) return showTemplate(context, checked.value);
  const [[place, [message = '']] = ['', []]] = Object.entries(checked.details);
  return refuse(templates.notTemplate(place, translateApiMessage(message, texts)));
}

/** A file has a template alone, or as the API answers it. Undefined for a text that is no JSON. */
function parse(text: string): unknown {
  try {
    const given = JSON.parse(text.replace(/^\uFEFF/, ''));
    return given?.template ?? given;
  } catch {
    return undefined;
  }
}

/** The template of a task. */
export async function downloadTemplate({ actions, session, ...context }: UserPageContext): Promise<Download> {
  const id = readId(context);
  const template = unwrap(await actions.getTaskTemplate(session, { id }));
  return { fileName: `carillon-template-${id}.json`, type: 'application/json', content: toContent(template) };
}

async function* toContent(template: Template) {
  yield `${JSON.stringify(template, null, 2)}\n`;
}
