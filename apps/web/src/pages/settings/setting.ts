import type { ActionResult } from '@carillon/contract/actions/index';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError } from '../../components/fields.ts';
import { type Html, html, raw } from '../../html.ts';
import type { Form } from '../../http/forms.ts';
import type { UserPageContext } from '../../page.ts';

export type Settings = WebActionData<'getSettings'>;

/** A form that was refused, to be shown again. */
export interface Refused {
  setting: string;
  form: Form;
  errors: FormErrors;
}

/** What a setting is rendered with. */
export interface SettingProps {
  context: UserPageContext;
  /** Of the page, which its forms are sent to. */
  path: string;
  settings: Settings;
  errors: FormErrors;
  /** What was typed if the form of this setting was refused; otherwise `saved`. */
  text(name: string, saved: string): string;
  /** The same for a box. */
  ticked(name: string, saved: boolean): boolean;
  /** The same for boxes of one name. */
  chosen(name: string, saved: readonly string[]): readonly string[];
  /** The id of a field: several settings have one of the same name. */
  id(name: string): string;
}

/** A setting with its form. */
export interface Setting {
  name: string;
  title(texts: Texts): string;
  hint(texts: Texts): Html | string;
  /** Absent: always. */
  isOffered?(settings: Settings, context: UserPageContext): boolean;
  render(props: SettingProps): Html;
  save(context: UserPageContext, form: Form): Promise<ActionResult<unknown>>;
  /** What the next page says. */
  done(texts: Texts, form: Form): string;
}

interface Shown extends Pick<SettingProps, 'context' | 'path' | 'settings'> {
  refused: Refused | null;
}

export function show(setting: Setting, { context, path, settings, refused }: Shown): Html {
  const { name } = setting;
  const { texts } = context;
  const form = refused?.setting === name ? refused.form : null;
  const props: SettingProps = {
    context,
    path,
    settings,
    errors: form && refused ? refused.errors : NO_ERRORS,
    text: (field, saved) => (form ? form.text(field) : saved),
    ticked: (field, saved) => (form ? form.has(field) : saved),
    chosen: (field, saved) => (form ? form.list(field) : saved),
    id: (field) => `${name}-${field}`,
  };
  return html`<section class="setting" id="${name}" aria-labelledby="${name}-title">
<div><h2 id="${name}-title">${setting.title(texts)}</h2><p class="hint">${setting.hint(texts)}</p></div>
<div class="gap">${setting.render(props)}</div>
</section>`;
}

/** The form of a setting, which its page receives. */
export const renderSettingForm = (
  { context, path, errors }: SettingProps,
  name: string,
  fields: Html,
  button: Html | string = context.texts.forms.save,
): Html => html`<form class="panel gap" method="post" action="${path}#${name}">${context.csrfField}
<input type="hidden" name="setting" value="${name}">
${renderFormError(errors, context.texts)}
${fields}
<div class="do">${typeof button === 'string' ? html`<button${button === context.texts.forms.save && raw(' class="primary"')}>${button}</button>` : button}</div>
</form>`;
