import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { TOOLS } from '../apps/api/src/handlers/mcp/tools/index.ts';
import { VARIABLES } from '../apps/api/src/lib/config/variables.ts';
import { getPlanLimits } from '../apps/api/src/platform/limits/plan-limits.ts';
import {
  CLIENT_REGISTRATIONS,
  MCP_REQUESTS,
  OTHER_ENDPOINTS,
  PUBLIC_ENDPOINTS,
  RATE_LIMITS,
  type RateLimit,
} from '../apps/api/src/platform/limits/rates.ts';
import { API_KEY_SCOPES } from '../packages/contract/src/accounts/api-keys.ts';
import { ERROR_CODES } from '../packages/contract/src/error-codes.ts';
import { buildActionDeclarations } from './action-declarations.ts';
import { readDocument } from './read-document.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, 'utf8');

/** The generated pages, by their path from the root of the repository. */
export async function generatePages(): Promise<Record<string, string>> {
  const conventions = 'docs/consumers/http-conventions.md';
  const limits = 'docs/consumers/limits.md';
  const keys = 'docs/consumers/authentication.md';
  const mcp = 'docs/consumers/mcp.md';
  return {
    'apps/api/types/action-schemas.d.ts': await buildActionDeclarations(),
    'docs/operating/configuration.md': buildConfigurationPage(read('.env.example')),
    [conventions]: fillMarks(read(conventions), { codes: buildCodesTable() }),
    [keys]: fillMarks(read(keys), { scopes: buildScopesTable(await readDocument()) }),
    [limits]: fillMarks(read(limits), { rates: buildRatesTable(), quotas: buildQuotasTable() }),
    [mcp]: fillMarks(read(mcp), { tools: buildToolsTable() }),
  };
}

/** Replaces the text between `<!-- generated: name -->` and `<!-- end -->`. */
function fillMarks(page: string, parts: Record<string, string>): string {
  return page.replaceAll(/(<!-- generated: (\w+) -->\n).*?(<!-- end -->)/gs, (_all, begin, name, end) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`Nothing is generated for ${name}.`);
    return `${begin}\n${part}\n${end}`;
  });
}

const INTRODUCTION = `# Configuration

<!-- Written by \`pnpm docs:generate\` from .env.example and apps/api/src/lib/config/variables.ts: change these. -->

Settings are environment variables, or lines of a file \`.env\` in the folder of the repository; the environment takes precedence.
\`NAME_FILE\` reads a setting from a file, such as a secret of Docker or systemd. Empty means unset, and a setting without a default is
unset. An invalid value stops the start with one line that says what the setting takes; \`pnpm carillon doctor\` lists all of them.
`;

interface Variable {
  name: string;
  defaultValue: string;
  /** Lines. */
  comment: string[];
}

interface Section {
  title: string;
  comment: string[];
  variables: Variable[];
}

/** What the variables take that only the scheduler process reads. */
const SCHEDULER_VARIABLES: Record<string, string> = {
  API_URL: 'a URL that begins with http:// or https://',
  SCHEDULER_INTERVAL_MS: 'a whole number from 10 to 3600000',
};

/** The comments of `.env.example`, with what each variable takes. */
function buildConfigurationPage(example: string): string {
  const sections = example.split(/^# --- /m).slice(1);
  return [INTRODUCTION, ...sections.map((source) => formatSection(parseSection(source)))].join('\n');
}

/** A comment directly above a variable belongs to it, any other to the section. */
function parseSection(source: string): Section {
  const [heading = '', ...lines] = source.split('\n');
  const section: Section = { title: heading.replace(/ -+$/, ''), comment: [], variables: [] };
  let comment: string[] = [];
  for (const line of lines) {
    if (line.startsWith('# ')) {
      comment.push(line.slice(2));
      continue;
    }
    const [, name, defaultValue = ''] = /^#([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
    if (name) section.variables.push({ name, defaultValue, comment });
    else section.comment.push(...comment);
    comment = [];
  }
  return section;
}

function formatSection({ title, comment, variables }: Section): string {
  const lead = comment.length > 0 ? [`${joinLines(comment)}\n`] : [];
  const list = title === 'Rarely' ? [`${variables.map(formatShortly).join('\n')}\n`] : variables.map(formatVariable);
  return [`## ${title}\n`, ...lead, ...list].join('\n');
}

const formatShortly = ({ name, defaultValue, comment }: Variable) =>
  `- \`${name}${defaultValue ? `=${defaultValue}` : ''}\`: ${joinLines(comment)}`;

function formatVariable({ name, defaultValue, comment }: Variable): string {
  const expects =
    SCHEDULER_VARIABLES[name] ?? (VARIABLES as Record<string, { parser: { expects: string } }>)[name]?.parser.expects;
  if (expects === undefined) throw new Error(`${name} is in .env.example, but is not a setting.`);
  const facts = [
    ...(expects === 'text' ? [] : [`Takes ${expects}.`]),
    ...(defaultValue ? [`Default: \`${defaultValue}\`.`] : []),
  ];
  const paragraphs = [joinLines(comment), ...(facts.length > 0 ? [facts.join(' ')] : [])];
  return `### ${name}\n\n${paragraphs.join('\n\n')}\n`;
}

/** Joins lines to a paragraph, indented ones to a list. */
function joinLines(lines: readonly string[]): string {
  const list = lines.filter((line) => line.startsWith(' ')).map((line) => `- ${line.trim().replace(/ {2,}/, ': ')}`);
  const text = lines.filter((line) => !line.startsWith(' ')).join(' ');
  return list.length === 0 ? text : `${text}\n\n${list.join('\n')}`;
}

const buildCodesTable = (): string =>
  [
    '| Code | Status | Meaning | What to do |',
    '| --- | --- | --- | --- |',
    ...Object.entries(ERROR_CODES).map(
      ([code, { status, meaning, action }]) => `| \`${code}\` | ${status} | ${meaning} | ${action} |`,
    ),
    '',
  ].join('\n');

/** What each scope allows, with its operations. */
function buildScopesTable({ paths }: Awaited<ReturnType<typeof readDocument>>): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `\`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\``,
      scope: (operation as { 'x-scope'?: string })['x-scope'],
    })),
  );
  const row = ([scope, allows]: [string, string]) => {
    const names = operations.filter((operation) => operation.scope === scope).map(({ name }) => name);
    return `| \`${scope}\` | ${allows} | ${names.join(', ') || 'none yet'} |`;
  };
  return [
    '| Scope | Allows | Operations |',
    '| --- | --- | --- |',
    ...Object.entries(API_KEY_SCOPES).map(row),
    '',
  ].join('\n');
}

function buildToolsTable(): string {
  const row = ({ name, title, scope, as, hints }: (typeof TOOLS)[number]) => {
    const hint = hints.readOnlyHint ? 'reads' : hints.destructiveHint ? 'destructive' : 'changes';
    return `| \`${name}\` | ${title} | ${hint} | \`${scope}\` | \`${as}\` |`;
  };
  return [
    '| Tool | What it does | Hint | Scope | Counts as |',
    '| --- | --- | --- | --- | --- |',
    ...TOOLS.map(row),
    '',
  ].join('\n');
}

const SCOPES: Record<RateLimit['scope'], string> = {
  user: 'user',
  admin: 'admin',
  ip: 'IP address',
  'ip+email': 'IP address and e-mail address',
  'ip+token': 'IP address and token',
};

function buildRatesTable(): string {
  const names: Record<string, string> = {
    [OTHER_ENDPOINTS.bucket]: 'All other endpoints, together',
    [PUBLIC_ENDPOINTS.bucket]: 'All other public endpoints, and requests without a session',
  };
  const row = ({ bucket, limit, windowSeconds, scope }: RateLimit) =>
    `| ${names[bucket] ?? `\`${bucket}\``} | ${limit} in ${formatWindow(windowSeconds)} | ${SCOPES[scope]} |`;
  return [
    '| Endpoint | Limit | Counted by |',
    '| --- | --- | --- |',
    ...[...RATE_LIMITS, MCP_REQUESTS, CLIENT_REGISTRATIONS, OTHER_ENDPOINTS, PUBLIC_ENDPOINTS].map(row),
    '',
  ].join('\n');
}

const formatWindow = (seconds: number) =>
  ({ 60: 'a minute', 900: '15 minutes', 3600: 'an hour' })[seconds] ?? `${seconds} seconds`;

function buildQuotasTable(): string {
  const unbounded = { maxTasksPerUser: Number.POSITIVE_INFINITY, maxExecutionsPerDay: Number.POSITIVE_INFINITY };
  const plans = (['trial', 'pro'] as const).map((plan) => getPlanLimits({ plan, role: 'USER', ...unbounded }));
  const row = (what: string, figure: (limits: (typeof plans)[number]) => string | number) =>
    `| ${what} | ${plans.map((limits) => figure(limits).toLocaleString('en-US')).join(' | ')} |`;
  const mebibytes = (bytes: number) => (bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`);
  return [
    '| | trial | pro |',
    '| --- | --- | --- |',
    row('Executions a day', (limits) => limits.executionsPerDay),
    row('Executions a month', (limits) => limits.executionsPerMonth),
    row('Tokens a day, input and output', (limits) => limits.tokensPerDay),
    row('Tokens a month', (limits) => limits.tokensPerMonth),
    row('Active tasks', (limits) => limits.activeTasks),
    row('Webhooks; never more than 10', (limits) => limits.webhooks),
    row('Storage of uploads', (limits) => mebibytes(limits.uploadBytes)),
    '',
  ].join('\n');
}
