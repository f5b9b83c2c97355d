import { isProbablyReaderable, Readability } from '@mozilla/readability';
import { selectAll } from 'css-select';
import { parseHTML } from 'linkedom/worker';
import { parse, parseFragment, serialize } from 'parse5';
import { adapter } from 'parse5-htmlparser2-tree-adapter';

// Runs in a thread. The parser is the one of the HTML standard, because selectors come from browsers.

const OPTIONS = { treeAdapter: adapter, scriptingEnabled: false };
/** Readability takes 80 ms for this many. */
const MAX_READABLE_ELEMENTS = 2000;
/** It would drop the price. */
const PRODUCT = /"@type"\s*:\s*"Product"|schema\.org\/Product\b|["']og:type["']\s+content=["'](?:og:)?product\b/i;
const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** What follows an element, where it is not what precedes it. */
const ENDS = { td: ' | ', th: ' | ', tr: '', li: '' };
const HIDDEN = new Set(
  'script style template head svg math iframe object embed canvas audio video datalist'.split(' '),
);
const AROUND = new Set([...HIDDEN, 'nav', 'footer']);

/** Returns the text of the elements that `select` finds, or the readable text. */
export function parseHtml(html, select) {
  const root = parse(html, OPTIONS);
  const title = root.children && toText(findElement(root, 'title')?.children ?? [], HIDDEN);
  if (select === undefined) return { title: title || null, text: readText(root, html) };
  const text = selectAll(select, root)
    .map((element) => (element.name === 'meta' ? (element.attribs.content ?? '') : toText([element], new Set())))
    .filter((found) => found !== '')
    .join('\n');
  return text === '' ? { problem: 'not_found' } : { title: title || null, text };
}

/** The text of a fragment of HTML. */
export const htmlToText = (html) =>
  /[<&]/.test(html) ? toText(parseFragment(html, OPTIONS).children, HIDDEN) : html.trim();

function readText(root, html) {
  const whole = toText(root.children, AROUND);
  if (PRODUCT.test(html) || countElements(root) > MAX_READABLE_ELEMENTS) return whole;
  // Written anew, because linkedom adds neither `html` nor `body`.
  const { document } = parseHTML(serialize(root, OPTIONS));
  if (!isProbablyReaderable(document)) return whole;
  const content = new Readability(document, { disableJSONLD: true }).parse()?.content;
  return (content && htmlToText(content)) || whole;
}

function findElement(root, name) {
  for (const node of walk(root.children)) if (node.name === name) return node;
}

function countElements(root) {
  let count = 0;
  for (const { name } of walk(root.children)) if (name !== undefined) count += 1;
  return count;
}

// No recursion: a page can be nested deeper than the stack.
function* walk(nodes) {
  const stack = nodes.toReversed();
  for (let node = stack.pop(); node; node = stack.pop()) {
    yield node;
    for (let at = (node.children?.length ?? 0) - 1; at >= 0; at -= 1) stack.push(node.children[at]);
  }
}

function toText(nodes, hidden) {
  let text = '';
  const stack = nodes.toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') text += node;
    else if (node.type === 'text') text += node.parent?.name === 'pre' ? node.data : node.data.replace(/\s+/g, ' ');
    else if (node.name === 'br') text += '\n';
    else if (node.children && !hidden.has(node.name) && node.attribs?.hidden === undefined) {
      const edge = BLOCKS.has(node.name) ? '\n' : '';
      text += node.name === 'li' ? '\n- ' : edge;
      stack.push(ENDS[node.name] ?? edge);
      for (let at = node.children.length - 1; at >= 0; at -= 1) stack.push(node.children[at]);
    }
  }
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n(?:- )?(?=\n- )/g, '')
    .replace(/ \| ?(?=\n|$)/g, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
