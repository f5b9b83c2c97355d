import { renderChoice } from '../../../components/choices.ts';
import { renderFieldError, renderTextarea } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import { ANSWER_FORMS, FIELD_KINDS } from './answer-fields.ts';
import type { SectionProps } from './section-props.ts';

const EXAMPLE = `{
  "type": "object",
  "properties": {
    "price": { "type": "number" },
    "currency": { "enum": ["EUR", "USD"] },
    "inStock": { "type": "boolean" }
  },
  "required": ["price", "currency"]
}`;

/** Free rows for more fields. */
const FREE_ROWS = 3;

/** What an answer has to look like. */
export function renderAnswer(props: SectionProps): Html {
  const { values, errors, texts } = props;
  const { taskForm } = texts;
  const forms = ANSWER_FORMS.map((value) => ({ value, text: taskForm.answerForms[value] }));
  return html`${renderChoice({ name: 'answerAs', legend: taskForm.fields.answerAs, choices: forms, value: values.answerAs, errors })}
<p class="hint on-number-answer">${taskForm.numberHint}</p>
<div class="on-fields">${renderFields(props)}</div>
<div class="on-schema gap">${renderTextarea({
    name: 'outputSchema',
    label: taskForm.fields.outputSchema,
    value: values.outputSchema,
    rows: 5,
    attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
    hint: taskForm.schemaHint,
    errors,
  })}
<details><summary>${taskForm.example}</summary><pre tabindex="0" role="region" aria-label="${taskForm.exampleSchema}">${EXAMPLE}</pre>
<p class="hint">${taskForm.schemaLimits}</p></details></div>`;
}

function renderFields({ values: { fieldNames, fieldKinds }, errors, texts: { taskForm } }: SectionProps): Html {
  const isWrong = errors.fields.fieldName !== undefined;
  const used = fieldNames.map((name, at) => ({ name, kind: fieldKinds[at] })).filter(({ name }) => name !== '');
  const rows = [...used, ...Array.from({ length: FREE_ROWS }, () => ({ name: '', kind: 'text' }))];
  return html`<fieldset class="field" id="fieldName"${isWrong && raw(' aria-describedby="fieldName-error" tabindex="-1"')}><legend>${taskForm.answerFields}</legend>
${rows.map(
  ({ name, kind }, at) =>
    html`<div class="sentence"><input name="fieldName" value="${name}" maxlength="64" autocomplete="off" aria-label="${taskForm.fieldNameOf(at + 1)}" placeholder="${taskForm.fieldExamples[at]}"><select name="fieldKind" aria-label="${taskForm.fieldKindOf(at + 1)}">${FIELD_KINDS.map(
      (one) => html`<option value="${one}"${one === kind && raw(' selected')}>${taskForm.fieldKinds[one]}</option>`,
    )}</select></div>`,
)}<p class="hint">${taskForm.answerFieldsHint}</p>${renderFieldError('fieldName', errors)}</fieldset>`;
}
