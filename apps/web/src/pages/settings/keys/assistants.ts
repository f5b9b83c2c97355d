import { type ApiKeyScope, ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';
import type { Texts } from '@carillon/texts';
import { renderCopyButton } from '../../../components/fields.ts';
import { type Html, html, raw } from '../../../html.ts';
import type { UserPageContext } from '../../../page.ts';

/** Opens the form of a new key with the scopes of an assistant. */
export const FOR_ASSISTANT = 'assistant';

const NAME = 'carillon';
const PLACEHOLDER = 'YOUR_API_KEY';

interface Program {
  name: string;
  where: Html;
  text: string;
}

const toJson = (value: unknown) => JSON.stringify(value, null, 2);

function describePrograms({ keys }: Texts, url: string, key: string): Program[] {
  const headers = { Authorization: `Bearer ${key}` };
  return [
    {
      name: 'Claude Code',
      where: html`${keys.inTerminal}`,
      text: `claude mcp add --transport http ${NAME} ${url} --header "Authorization: ${headers.Authorization}" --scope user`,
    },
    {
      name: 'Cursor',
      where: html`${keys.inFile(html`<code>~/.cursor/mcp.json</code>`, html`<code>.cursor/mcp.json</code>`)}`,
      text: toJson({ mcpServers: { [NAME]: { url, headers } } }),
    },
    {
      name: 'VS Code',
      where: html`${keys.byCommand(html`<b>MCP: Open User Configuration</b>`)}`,
      text: toJson({ servers: { [NAME]: { type: 'http', url, headers } } }),
    },
  ];
}

/** The programs, each with what to copy. */
function renderPrograms(texts: Texts, url: string, key: string): Html {
  return html`<div class="groups">${describePrograms(texts, url, key).map(
    ({ name, where, text }, at) =>
      html`<details name="assistants"${at === 0 && raw(' open')}><summary><b>${name}</b></summary><div class="gap"><p>${where}</p>
<div class="copied-code"><pre class="copied" id="config-${at}" tabindex="0" role="group" aria-label="${texts.keys.configuration(name)}">${text}</pre>${renderCopyButton(`config-${at}`, texts)}</div></div></details>`,
  )}</div>`;
}

const addressOf = ({ dashboard }: UserPageContext) => dashboard.assistantUrl;

/** How an assistant is connected, with a placeholder instead of a key. */
export function renderAssistants(context: UserPageContext): Html {
  const { texts } = context;
  const { keys } = texts;
  const url = addressOf(context);
  return html`<section class="gap form" id="assistants" aria-labelledby="connect"><div class="head"><h2 id="connect">${keys.connect}</h2><a href="/settings/keys?for=${FOR_ASSISTANT}#new-key">${keys.createForAssistant}</a></div>
<p>${keys.connectText}</p>
<dl class="facts"><dt>${keys.url}</dt><dd class="copied-code"><code class="copied" id="mcp-url">${url}</code>${renderCopyButton('mcp-url', texts)}</dd><dt>${keys.protocol}</dt><dd>${keys.protocolText}</dd></dl>
${renderPrograms(texts, url, PLACEHOLDER)}
<p class="hint">${keys.placeholder(html`<code>${PLACEHOLDER}</code>`)}</p></section>`;
}

/** The same with a new key. Empty for a key that no tool of an assistant accepts. */
export function renderAssistantsWith(
  context: UserPageContext,
  secret: string,
  scopes: readonly ApiKeyScope[],
): Html | false {
  const { texts } = context;
  const missing = ASSISTANT_SCOPES.filter((scope) => !scopes.includes(scope));
  const isUseless = missing.length === ASSISTANT_SCOPES.length;
  return (
    !isUseless &&
    html`<section class="gap form" aria-labelledby="connect"><h2 id="connect">${texts.keys.connectWithKey}</h2>
${renderPrograms(texts, addressOf(context), secret)}${
  missing.length > 0 &&
  html`<p class="hint">${texts.keys.missingScopes(
    html`${missing.map((scope, at) => html`${at > 0 && ', '}<code>${scope}</code>`)}`,
  )}</p>`
}</section>`
  );
}
