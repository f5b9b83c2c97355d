import { getTexts } from '@carillon/texts';
import t from 'tap';

/** Labels of other products, and what both languages call the same. */
const SAME = /Add New Webhook to Workspace|MCP: Open User Configuration/;

t.test('No sentence is the same in both languages', async (t) => {
  const [en, pt] = [collect(getTexts('en')), collect(getTexts('pt-BR'))];
  t.ok(en.size > 1000);
  const same = [...en].filter(([path, text]) => pt.get(path) === text && isSentence(text) && !SAME.test(text));
  t.strictSame(same, []);
});

function isSentence(text: string): boolean {
  return (text.match(/(?<!\S)\p{L}{2,}(?![\p{L}_])/gu)?.length ?? 0) >= 3;
}

/** All texts by their path; those with values get them as letters and numbers. */
function collect(value: unknown, path = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'string') found.set(path, value);
  else if (typeof value === 'function')
    collect(callWithExamples(value as (...values: unknown[]) => unknown), path, found);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) if (key !== 'formats') collect(inner, `${path}.${key}`, found);
  }
  return found;
}

/** Null for an entry that needs a value of another kind. */
function callWithExamples(entry: (...values: unknown[]) => unknown): unknown {
  for (const example of ['x', 2, null]) {
    try {
      const text = entry(...Array.from({ length: entry.length }, () => example));
      if (typeof text !== 'function') return text;
    } catch {
      // The next kind may fit.
    }
  }
  return null;
}
