import { generateTypes } from './generate-types.ts';
import { EXTENDED, METHODS, OMITTED } from './names.ts';

interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
}

interface Response {
  content?: Record<string, { schema: Schema }>;
  headers?: object;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: object[];
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, unknown> };
  responses: Record<string, Response>;
}

export interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: Record<string, object>;
}

interface Method {
  name: string;
  http: string;
  path: string;
  operation: Operation;
}

const FIRST_LINE = '// Generated from the OpenAPI document by `pnpm docs:generate`. Do not edit.\n';

/** Generates the types and the methods of the client. Returns the text of each file, by its name. */
export async function generateClient(document: Document): Promise<Record<string, string>> {
  const covered = { ...document, paths: selectPaths(document.paths) };
  const types = await generateTypes(withoutUnused(covered));
  return { 'api.ts': FIRST_LINE + types, 'resources.ts': FIRST_LINE + generateResources(covered) };
}

/** The operations that have a method. Throws for one that no table has. */
function selectPaths(paths: Document['paths']): Document['paths'] {
  const selected = Object.entries(paths).map(([path, byMethod]) => {
    const covered = Object.entries(byMethod).filter(([, { operationId, tags }]) => {
      const isOmitted = operationId in OMITTED || tags.some((tag) => tag in OMITTED);
      if (!isOmitted && !(operationId in METHODS)) {
        throw new Error(`Add ${operationId} to packages/client/generate/names.ts.`);
      }
      return !isOmitted;
    });
    return [path, Object.fromEntries(covered)] as const;
  });
  return Object.fromEntries(selected.filter(([, byMethod]) => Object.keys(byMethod).length > 0));
}

/** Without errors and headers, which the client reads by itself. */
function withoutUnused(document: Document): Document {
  const { schemas = {} } = document.components;
  const isBody = ([status]: [string, Response]) => status.startsWith('2');
  const prune = (operation: Operation): Operation => ({
    ...operation,
    parameters: operation.parameters?.filter((parameter) => parameter.in !== 'header') ?? [],
    responses: Object.fromEntries(
      Object.entries(operation.responses)
        .filter(isBody)
        .map(([status, { headers: _, ...response }]) => [status, response]),
    ),
  });
  const pruneAll = (paths: Document['paths']) => mapValues(paths, (byMethod) => mapValues(byMethod, prune));
  const pruned = { paths: pruneAll(document.paths), webhooks: pruneAll(document.webhooks) };
  const used = JSON.stringify(pruned);
  const named = Object.entries(schemas).filter(([name]) => used.includes(`#/components/schemas/${name}"`));
  return { ...document, ...pruned, components: { schemas: closeOver(Object.fromEntries(named), schemas) } };
}

/** Adds the schemas that those in `used` refer to. */
function closeOver(used: Record<string, unknown>, all: object): object {
  const text = JSON.stringify(used);
  const missing = Object.entries(all).filter(
    ([name]) => !(name in used) && text.includes(`#/components/schemas/${name}"`),
  );
  return missing.length === 0 ? used : closeOver({ ...used, ...Object.fromEntries(missing) }, all);
}

const mapValues = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

function generateResources(document: Document): string {
  const methods = Object.entries(document.paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([http, operation]) => ({ http: http.toUpperCase(), path, operation })),
  );
  const resources = new Map<string, Method[]>();
  for (const method of methods) {
    const [resource = '', name = ''] = METHODS[method.operation.operationId]?.split('.') ?? [];
    resources.set(resource, [...(resources.get(resource) ?? []), { ...method, name }]);
  }
  const names = [...resources.keys()].filter((name) => !EXTENDED.includes(name));
  const classes = [
    ...[...resources].map(([resource, inside]) => formatClass(resource, inside)),
    '/** The resources that need only their methods. */\nexport class Resources {',
    ...names.map((name) => `  readonly ${name}: ${toClassName(name)};`),
    '\n  constructor(settings: Settings) {',
    ...names.map((name) => `    this.${name} = new ${toClassName(name)}(settings);`),
    '  }\n}\n',
  ].join('\n');
  const imported = (from: string, names: string[]) => {
    const used = names.filter((name) => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(classes));
    const list = used.join(', ');
    return used.length === 0 ? '' : `import { ${list} } from '${from}';\n`.replace(/\{ type (\w+) \}/, 'type { $1 }');
  };
  return [
    imported('../options.ts', ['ChangeOptions', 'PostOptions', 'RequestOptions', 'Settings']).replace(
      'import',
      'import type',
    ),
    imported('../pages.ts', ['Pages']).replace('import', 'import type'),
    imported('../request.ts', ['segment']),
    imported('../resource.ts', [
      'type AnswerOf',
      'type BodyOf',
      'type QueryOf',
      'Resource',
      'type UploadOptions',
      'withToken',
    ]),
    imported('../response-promise.ts', ['ResponsePromise']).replace('import', 'import type'),
    '\n',
    classes,
  ].join('');
}

const formatClass = (resource: string, methods: Method[]): string =>
  [
    `export class ${toClassName(resource)} extends Resource {`,
    methods.map((method) => formatMethod(method)).join('\n\n'),
    '}\n',
  ].join('\n');

const toClassName = (resource: string) => `${resource[0]?.toUpperCase()}${resource.slice(1)}`;

function formatMethod({ name, http, path, operation }: Method): string {
  const { operationId, summary, parameters = [], requestBody } = operation;
  const ids = parameters.filter((parameter) => parameter.in === 'path');
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const takesKey = http === 'POST' && hasHeader(operation, 'idempotency-key');
  const isUpload = requestBody?.content['multipart/form-data'] !== undefined;
  const listed = findListed(operation);
  const needsQuery = query.some(({ required }) => required);
  const options = takesKey ? 'PostOptions' : hasHeader(operation, 'if-match') ? 'ChangeOptions' : 'RequestOptions';

  const signature = ids.map(({ name, schema }) => `${name}: ${schema.type === 'integer' ? 'number' : 'string'}`);
  if (isUpload) signature.push('file: Blob');
  else if (requestBody) signature.push(`body${requestBody.required === false ? '?' : ''}: BodyOf<'${operationId}'>`);
  if (query.length > 0) signature.push(`query${needsQuery ? '' : '?'}: QueryOf<'${operationId}'>`);
  signature.push(`options?: ${isUpload ? 'UploadOptions' : options}`);

  const text = ids.length === 0 ? `'${path}'` : `\`${path.replaceAll(/\{(\w+)\}/g, '$' + '{segment($1)}')}\``;
  const details = [
    hasHeader(operation, 'x-request-token') ? 'options: withToken(options)' : 'options',
    ...(requestBody ? ['body'] : []),
    ...(query.length > 0 ? ['query'] : []),
  ].toReversed();
  if (takesKey) details.push('takesKey: true');
  const answer = `AnswerOf<'${operationId}'>`;
  const [type, call] = isUpload
    ? [`ResponsePromise<${answer}>`, `upload('${http}', ${text}, file, options)`]
    : listed
      ? [`Pages<${answer}, '${listed}'>`, `pages(${text}, '${listed}', { query, options })`]
      : [`ResponsePromise<${answer}>`, `send('${http}', ${text}, { ${details.join(', ')} })`];
  return [
    `  /** ${summary}: ${http} ${path} */`,
    `  ${name}(${signature.join(', ')}): ${type} {`,
    `    return this.${call};`,
    '  }',
  ].join('\n');
}

const hasHeader = ({ parameters = [] }: Operation, name: string) =>
  parameters.some((parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === name);

/** The field of a page that has its entries; null if the response is not a page. */
function findListed({ responses }: Operation): string | null {
  const { properties } = responses[200]?.content?.['application/json']?.schema ?? {};
  if (!properties?.pagination) return null;
  return Object.entries(properties).find(([, { type }]) => type === 'array')?.[0] ?? null;
}
