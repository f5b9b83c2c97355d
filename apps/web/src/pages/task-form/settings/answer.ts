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
export const renderAnswer = ({ values: { outputSchema }, errors }: SectionProps): Html =>
  html`${renderTextarea({
    name: 'outputSchema',
    label: 'JSON schema',
    value: outputSchema,
    rows: 5,
    attributes: raw('class="code" spellcheck="false" autocapitalize="off" autocomplete="off"'),
    hint: 'Each answer is then a JSON object that is checked against it. One that does not match is asked for once more, then the run fails. Empty for free text.',
    errors,
  })}
<details><summary>An example</summary><pre tabindex="0" aria-label="Example of a schema">${EXAMPLE}</pre>
<p class="hint">Keywords are those of JSON Schema 2020-12. At most 16 KB and 10 levels, with references inside of it only.</p></details>`;
