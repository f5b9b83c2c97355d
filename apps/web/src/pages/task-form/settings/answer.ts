import { renderTextarea } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
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

/** What an answer has to look like. */
export const renderAnswer = ({ values: { outputSchema }, errors, texts: { taskForm } }: SectionProps): Html =>
  html`${renderTextarea({
    name: 'outputSchema',
    label: taskForm.fields.outputSchema,
    value: outputSchema,
    rows: 5,
    attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
    hint: taskForm.schemaHint,
    errors,
  })}
<details><summary>${taskForm.example}</summary><pre tabindex="0" aria-label="${taskForm.exampleSchema}">${EXAMPLE}</pre>
<p class="hint">${taskForm.schemaLimits}</p></details>`;
