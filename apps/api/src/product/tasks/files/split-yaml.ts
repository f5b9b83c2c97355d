import { MAX_DEPTH } from '@carillon/contract/validation/unsafe-values';
import { CST, Lexer } from 'yaml';
import { FileProblem } from './file-problem.ts';

/** A piece of a list: an item, or a whole list in brackets. */
export interface Piece {
  /** Of its first line, from 1 on. */
  line: number;
  text: string;
  /** Earlier items that have anchors which this one uses. */
  prefix: string;
}

/** In UTF-16 units: a prompt of the maximum length in escapes. */
const MAX_PIECE_LENGTH = 2 * 1024 * 1024;
const MAX_TOKENS = 20_000;

/**
 * Splits a list into items without building a tree of all: a parser takes a hundred times the memory of its text. Throws a
 * `FileProblem`.
 */
export function* splitYaml(text: string): Generator<Piece> {
  const anchored = new Map<string, string>();
  for (const { line, text: item } of splitItems(text)) {
    const { anchors, aliases } = scanTokens(item, line);
    const before = [...aliases].flatMap((name) => (anchors.has(name) ? [] : (anchored.get(name) ?? [])));
    const prefix = [...new Set(before)].join('');
    if (prefix.length + item.length > MAX_PIECE_LENGTH) throw tooLong(line);
    yield { line, text: item, prefix };
    for (const name of anchors) anchored.set(name, prefix + item);
  }
}

const tooLong = (line: number) => new FileProblem(line, 'is too long for one task');

function* splitItems(text: string): Generator<{ line: number; text: string }> {
  let dash: RegExp | null = null;
  let start = 0;
  let startLine = 1;
  let line = 0;
  for (let at = 0; at < text.length; ) {
    line += 1;
    const end = text.indexOf('\n', at) + 1 || text.length;
    // The mark of an item is at its beginning.
    const head = text.slice(at, Math.min(end, at + MAX_INDENT)).trimEnd();
    if (dash === null) {
      if (!isPreamble(head)) {
        const indent = /^ *(?=-(\s|$))/.exec(head)?.[0];
        if (indent === undefined) {
          if (!head.trimStart().startsWith('[')) throw new FileProblem(line, 'must be a list of tasks');
          return yield { line, text: text.slice(at) };
        }
        dash = new RegExp(`^${indent}-(\\s|$)`);
        [start, startLine] = [at, line];
      }
    } else if (/^(---|\.\.\.)(\s|$)/.test(head)) {
      yield { line: startLine, text: text.slice(start, at) };
      if (/\S/.test(text.slice(end)) || head.startsWith('-')) throw new FileProblem(line, 'must be one document');
      return;
    } else if (dash.test(head)) {
      yield { line: startLine, text: text.slice(start, at) };
      [start, startLine] = [at, line];
    }
    at = end;
  }
  if (dash !== null) yield { line: startLine, text: text.slice(start) };
}

const MAX_INDENT = 100;

/** What may come before a document: comments, directives, and the mark of its beginning. */
const isPreamble = (head: string) => /^\s*(#|$)/.test(head) || /^(%|---(\s+#|$))/.test(head);

function scanTokens(text: string, line: number) {
  if (text.length > MAX_PIECE_LENGTH) throw tooLong(line);
  const anchors = new Set<string>();
  const aliases = new Set<string>();
  let at = line;
  let tokens = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > MAX_TOKENS) throw tooLong(line);
    const type = CST.tokenType(token);
    if (type === 'tag') throw new FileProblem(at, `must not have tags, such as ${JSON.stringify(token.slice(0, 40))}`);
    if (type?.startsWith('flow-')) depth += type.endsWith('-start') ? 1 : -1;
    if (depth > MAX_DEPTH) throw new FileProblem(at, `must not be nested deeper than ${MAX_DEPTH} levels`);
    if (type === 'anchor') anchors.add(token.slice(1));
    if (type === 'alias') aliases.add(token.slice(1));
    at += token.split('\n').length - 1;
  }
  return { anchors, aliases };
}
