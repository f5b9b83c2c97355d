import t from 'tap';
import { getTexts, type Marks, type Parts } from '../src/index.ts';

type Mark = { kind: keyof Marks<unknown> };
const mark = (kind: Mark['kind']) => (): Mark => ({ kind });
const marks: Marks<Mark> = { strong: mark('strong'), code: mark('code'), link: mark('link') };
const listMarks = (parts: Parts<Mark>) => parts.flatMap((part) => (typeof part === 'string' ? [] : [part.kind]));

t.test('Each step and each hint has the same links, names and code in all languages', async (t) => {
  const [english, portuguese] = [getTexts('en').channelGuides, getTexts('pt-BR').channelGuides];
  for (const kind of Object.keys(english.kinds) as (keyof typeof english.kinds)[]) {
    const [steps, translated] = [english.kinds[kind].steps(marks), portuguese.kinds[kind].steps(marks)];
    t.same(translated.map(listMarks), steps.map(listMarks), kind);
  }
  for (const name of Object.keys(english.fields) as (keyof typeof english.fields)[]) {
    const [field, translated] = [english.fields[name], portuguese.fields[name]];
    t.same(listMarks(translated.hint(marks.code, 'https://')), listMarks(field.hint(marks.code, 'https://')), name);
  }
});
