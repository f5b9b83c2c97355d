import { getTexts, type Language } from '@carillon/texts';
import type { ChangedLine, ShownChanges } from './changes.ts';
import { look, type Markup, markup, trusted } from './styles.ts';

const LINE_LOOKS = { delete: 'lineDelete', insert: 'lineInsert', equal: 'lineEqual' } as const;
const SIGNS = { delete: '−', insert: '+', equal: '\u00a0' };

/** Renders values as a table of before and after, a text by its lines. */
export function renderChanges({ values, lines, hasMore }: ShownChanges, language: Language): Markup {
  const texts = getTexts(language).messages;
  return markup`${
    values.length > 0 &&
    markup`<table${look('table')}>
<thead><tr>${[texts.value, texts.before, texts.after].map((name) => markup`<th scope="col"${look('th')}>${name}</th>`)}</tr></thead>
<tbody>${values.map(
      ({ path, before, after }) => markup`<tr><th scope="row"${look('td')} dir="auto">${path}</th>
<td${look('td')} dir="auto">${before === null ? '–' : markup`<del${look('before')}>${before}</del>`}</td>
<td${look('td')} dir="auto">${after === null ? '–' : markup`<ins${look('after')}>${after}</ins>`}</td></tr>\n`,
    )}</tbody>
</table>\n`
  }${lines.length > 0 && markup`<div${look('lines')}>${lines.map(renderLine)}</div>\n`}${hasMore && markup`<p${look('fine')}>${texts.moreChanges}</p>\n`}`;
}

function renderLine({ op, text }: ChangedLine): Markup {
  const content = markup`${SIGNS[op]} ${text}`;
  const tag = { delete: trusted('del'), insert: trusted('ins'), equal: null }[op];
  const marked = tag ? markup`<${tag} style="text-decoration:none;">${content}</${tag}>` : content;
  return markup`<div${look(LINE_LOOKS[op])}>${marked}</div>`;
}
