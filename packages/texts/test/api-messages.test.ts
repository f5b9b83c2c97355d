import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_MESSAGES, getTexts, translateApiMessage } from '@carillon/texts';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../../..');
/** What people do not send with a form: HTTP itself, assistants, inbound webhooks, and answers of models. */
const NOT_PAGES = /handlers\/|platform\/|agent\/(process|proposals\/build-task)|executions\/inbound/;
/** `must be ${baseUrl.expects}`, and what only the API takes. */
const NOT_FORMS = ['must be {}', 'cannot be combined with url', 'is required, or id'];
const LITERAL = "(?:'([^'\\n]*)'|`([^`\\n]*)`)";

const sources = execFileSync('git', ['ls-files', 'apps/api/src/*.ts'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !NOT_PAGES.test(path))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'));

/** With `{}` for each value. */
const listMessages = (pattern: RegExp) => [
  ...new Set(
    sources.flatMap((source) =>
      [...source.matchAll(pattern)].map(([, quoted, template]) =>
        (quoted ?? template ?? '').replaceAll(/\$\{[^}]*(?:\}|$)/g, '{}'),
      ),
    ),
  ),
];

const toPattern = (message: string) =>
  new RegExp(
    `^${message
      .split('{}')
      .map((part) => part.replaceAll(/[^\w\s]/g, '\\$&'))
      .join('.+')}$`,
  );

t.test('Each message of a field that a form can get is in the catalog', async (t) => {
  const messages = listMessages(
    new RegExp(String.raw`invalid(?:Field|Item)\((?:[^'\n]*?|'[^']*'), (?:at, )?` + LITERAL, 'g'),
  );
  t.ok(messages.length > 40);
  const known = new Set<string>(API_MESSAGES);
  const isKnown = (message: string) =>
    known.has(message) || API_MESSAGES.some((one) => one.includes('{}') && toPattern(one).test(message));
  t.strictSame(
    messages.filter((message) => !isKnown(message)),
    NOT_FORMS,
  );
});

t.test('A message is said with its values, in the language of the reader', async (t) => {
  const pt = getTexts('pt-BR');
  const say = (message: string) => translateApiMessage(message, pt);
  t.equal(say('must be at most 100 characters'), 'deve ter no máximo 100 caracteres');
  t.equal(say('must be at most 5'), 'deve ser no máximo 5');
  t.equal(say('item 3 must be an e-mail address'), 'item 3 deve ser um e-mail válido');
  t.equal(
    say('The quota of 60 executions is used up until 2026-11-25T00:00:00.000Z.'),
    'Todas as 60 execuções já foram usadas. As execuções voltam em 25 de novembro de 2026 às 00:00 UTC.',
  );
  t.equal(say('Cupom expirado'), 'Cupom expirado');
  t.equal(translateApiMessage('must be at most 5', getTexts('en')), 'must be at most 5');
});
