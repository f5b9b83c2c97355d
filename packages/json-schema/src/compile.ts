import { compileProperties, IN_PLACE, INSIDE, UNEVALUATED } from './applicators.ts';
import { ASSERTIONS } from './assertions.ts';
import { createKeywords } from './keywords.ts';
import { Patterns } from './pattern.ts';
import { type Problem, Run, TooManySteps } from './run.ts';
import { evaluate, isObject, type Keywords, SchemaError, type SchemaNode } from './schema-node.ts';

const DRAFT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;
const MAX_DEPTH = 10;
const MAX_SCHEMAS = 500;

/** Keywords by how they hold schemas. */
const ONE = [
  ...['additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then'],
  ...['unevaluatedItems', 'unevaluatedProperties'],
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'];

const REFUSED: Record<string, string> = {
  $dynamicRef: 'is not supported: use $ref',
  $dynamicAnchor: 'is not supported: use $anchor',
  $recursiveRef: 'is not of the draft 2020-12: use $ref',
  $vocabulary: 'is not supported',
};

export interface Validity {
  problems: Problem[];
  /** Whether the check was given up, since it took too many steps. */
  gaveUp: boolean;
}

export interface CompiledSchema {
  /** Takes at most some 50 ms. Without problems the value matches. Lists the first ten of them. */
  check(value: unknown): Validity;
}

interface Located {
  schema: unknown;
  node: SchemaNode;
  /** A JSON pointer. */
  pointer: string;
}

/**
 * Compiles a JSON Schema of the draft 2020-12, within limits that bound what compiling and checking take. Throws
 * `SchemaError` with the place of what is wrong below `field`.
 */
export function compileSchema(root: unknown, field: string): CompiledSchema {
  const located = new Map<string, Located>();
  collectSchemas(root, '', field, 1, located);
  const findNode = (pointer: string) => located.get(pointer)?.node;
  const anchors = findAnchors([...located.values()]);
  const patterns = new Patterns();
  for (const { schema, node, pointer } of located.values()) {
    if (schema === true) continue;
    if (schema === false) {
      node.checks.push((_, place, run) => run.fail(place, 'is not allowed'));
      continue;
    }
    const findChild = (...path: (string | number)[]) => findNode(toPointer(pointer, ...path)) as SchemaNode;
    const keywords = createKeywords(schema as Record<string, unknown>, node, findChild, patterns);
    compileKeywords(keywords);
    if (keywords.has('$ref')) addReference(keywords, findNode, anchors);
  }
  const node = findNode('') as SchemaNode;
  refuseEndlessReferences([...located.values()].map((one) => one.node));
  return { check: (value) => checkValue(node, value) };
}

function checkValue(node: SchemaNode, value: unknown): Validity {
  const run = new Run();
  try {
    const isMatch = evaluate(node, value, null, run);
    if (!isMatch && run.problems.length === 0) run.problems.push({ path: '', message: 'does not match' });
    return { problems: run.problems, gaveUp: false };
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return { problems: [{ path: '', message: 'takes too many steps to check' }], gaveUp: true };
  }
}

function collectSchemas(
  schema: unknown,
  pointer: string,
  field: string,
  depth: number,
  located: Map<string, Located>,
): void {
  if (typeof schema !== 'boolean' && !isObject(schema))
    throw new SchemaError(field, 'must be a schema: an object or a boolean');
  if (depth > MAX_DEPTH) throw new SchemaError(field, `must not be nested deeper than ${MAX_DEPTH} levels`);
  located.set(pointer, { schema, node: { checks: [], finalChecks: [], inPlace: [], field }, pointer });
  if (located.size > MAX_SCHEMAS) throw new SchemaError(field, `is one of more than ${MAX_SCHEMAS} schemas`);
  if (typeof schema === 'boolean') return;
  const visit = (child: unknown, ...path: (string | number)[]) =>
    collectSchemas(child, toPointer(pointer, ...path), [field, ...path].join('.'), depth + 1, located);
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.includes(keyword)) {
      if (keyword !== 'items' || !Array.isArray(value)) visit(value, keyword);
    } else if (LISTS.includes(keyword) && Array.isArray(value)) {
      for (const [index, child] of value.entries()) visit(child, keyword, index);
    } else if (MAPS.includes(keyword)) {
      if (!isObject(value)) throw new SchemaError(`${field}.${keyword}`, 'must be an object');
      for (const [name, child] of Object.entries(value)) visit(child, keyword, name);
    }
  }
}

const toPointer = (pointer: string, ...path: (string | number)[]) =>
  [pointer, ...path.map((name) => String(name).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

function compileKeywords(keywords: Keywords): void {
  const { schema, node, has, refuse } = keywords;
  for (const keyword of Object.keys(schema)) {
    if (Object.hasOwn(REFUSED, keyword)) refuse(keyword, REFUSED[keyword] as string);
  }
  refuseOtherDocuments(keywords);
  const add = (
    table: Record<string, (keywords: Keywords) => SchemaNode['checks'][number]>,
    to: SchemaNode['checks'],
  ) => {
    for (const [keyword, compile] of Object.entries(table)) if (has(keyword)) to.push(compile(keywords));
  };
  add(ASSERTIONS, node.checks);
  if (['properties', 'patternProperties', 'additionalProperties'].some(has))
    node.checks.push(compileProperties(keywords));
  add(INSIDE, node.checks);
  add(IN_PLACE, node.checks);
  add(UNEVALUATED, node.finalChecks);
  for (const keyword of SAME_VALUE.filter(has)) {
    if (LISTS.includes(keyword)) node.inPlace.push(...keywords.readSchemas(keyword));
    else if (MAPS.includes(keyword)) node.inPlace.push(...keywords.readSchemaMap(keyword).map(([, child]) => child));
    else node.inPlace.push(keywords.readSchema(keyword));
  }
  // They have a meaning only beside `if` and `contains`, and have to be right all the same.
  for (const keyword of ['minContains', 'maxContains'].filter(has)) keywords.readCount(keyword);
}

function refuseOtherDocuments({ schema, node, refuse }: Keywords): void {
  const { $schema, $id } = schema;
  if ($schema !== undefined && !(typeof $schema === 'string' && DRAFT.test($schema))) {
    refuse('$schema', 'must be https://json-schema.org/draft/2020-12/schema');
  }
  if ($id === undefined) return;
  if (node.field.includes('.')) refuse('$id', 'is supported at the root only');
  if (typeof $id !== 'string' || !URL.canParse($id) || $id.includes('#')) refuse('$id', 'must be an absolute address');
}

function findAnchors(located: readonly Located[]): Map<string, SchemaNode> {
  const anchors = new Map<string, SchemaNode>();
  for (const { schema, node } of located) {
    if (!isObject(schema) || !Object.hasOwn(schema, '$anchor')) continue;
    const { $anchor: name } = schema;
    const field = `${node.field}.$anchor`;
    if (typeof name !== 'string' || !/^[A-Za-z_][-A-Za-z0-9._]*$/.test(name)) {
      throw new SchemaError(field, 'must begin with a letter and have only letters, digits, - . and _');
    }
    if (anchors.has(name)) throw new SchemaError(field, 'is the anchor of two schemas');
    anchors.set(name, node);
  }
  return anchors;
}

function addReference(
  { schema, node }: Keywords,
  findNode: (pointer: string) => SchemaNode | undefined,
  anchors: ReadonlyMap<string, SchemaNode>,
): void {
  const { $ref: reference } = schema;
  const field = `${node.field}.$ref`;
  if (typeof reference !== 'string') throw new SchemaError(field, 'must be a string');
  if (!reference.startsWith('#')) {
    throw new SchemaError(field, 'must be a reference within this schema, such as #/$defs/name');
  }
  const fragment = decodeFragment(reference.slice(1));
  const target = fragment === '' || fragment?.startsWith('/') ? findNode(fragment) : anchors.get(fragment ?? '');
  if (!target) throw new SchemaError(field, 'leads to no schema');
  node.inPlace.push(target);
  node.checks.push((value, place, run, evaluated) => evaluate(target, value, place, run, evaluated));
}

function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}

/** A schema that leads back to itself without going into a value would never end. */
function refuseEndlessReferences(nodes: readonly SchemaNode[]): void {
  const done = new Set<SchemaNode>();
  const open = new Set<SchemaNode>();
  const visit = (node: SchemaNode) => {
    if (open.has(node)) throw new SchemaError(node.field, 'leads back to itself for the same value');
    if (done.has(node)) return;
    open.add(node);
    for (const next of node.inPlace) visit(next);
    open.delete(node);
    done.add(node);
  };
  for (const node of nodes) visit(node);
}
