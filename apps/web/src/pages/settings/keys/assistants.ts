import { type ApiKeyScope, ASSISTANT_SCOPES } from '@carillon/contract/accounts/api-keys';
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

function describePrograms(url: string, key: string): Program[] {
  const headers = { Authorization: `Bearer ${key}` };
  return [
    {
      name: 'Claude Code',
      where: html`Run this in a terminal.`,
      text: `claude mcp add --transport http ${NAME} ${url} --header "Authorization: ${headers.Authorization}" --scope user`,
    },
    {
      name: 'Cursor',
      where: html`Put this into <code>~/.cursor/mcp.json</code>, or into <code>.cursor/mcp.json</code> of one project.`,
      text: toJson({ mcpServers: { [NAME]: { url, headers } } }),
    },
    {
      name: 'VS Code',
      where: html`Run the command <b>MCP: Open User Configuration</b>, and put this into the file that opens.`,
      text: toJson({ servers: { [NAME]: { type: 'http', url, headers } } }),
    },
  ];
}

/** The programs, each with what to copy. */
function renderPrograms(url: string, key: string): Html {
  return html`<div class="groups">${describePrograms(url, key).map(
    ({ name, where, text }, at) =>
      html`<details name="assistants"${at === 0 && raw(' open')}><summary><b>${name}</b></summary><div class="gap"><p>${where}</p>
<pre class="copied" tabindex="0" aria-label="For ${name}">${text}</pre></div></details>`,
  )}</div>`;
}

const addressOf = ({ dashboard }: UserPageContext) => `${dashboard.appUrl}/mcp`;

/** How an assistant is connected, with a placeholder instead of a key. */
export function renderAssistants(context: UserPageContext): Html {
  const url = addressOf(context);
  return html`<section class="gap form" id="assistants" aria-labelledby="connect"><div class="head"><h2 id="connect">Connect an assistant</h2><a href="/settings/keys?for=${FOR_ASSISTANT}#new-key">Make a key for an assistant</a></div>
<p>An assistant that speaks MCP can plan tasks with you, run them and read their answers. It needs this address and a key.</p>
<dl class="facts"><dt>Address</dt><dd><code class="copied">${url}</code></dd><dt>Protocol</dt><dd>MCP over streamable HTTP, with the key as a bearer token</dd></dl>
${renderPrograms(url, PLACEHOLDER)}
<p class="hint">Write your key instead of <code>${PLACEHOLDER}</code>. What the assistant changes stands in the audit log with the name of the key.</p></section>`;
}

/** The same with a new key. Empty for a key that no tool of an assistant accepts. */
export function renderAssistantsWith(
  context: UserPageContext,
  secret: string,
  scopes: readonly ApiKeyScope[],
): Html | false {
  const missing = ASSISTANT_SCOPES.filter((scope) => !scopes.includes(scope));
  const isUseless = missing.length === ASSISTANT_SCOPES.length;
  return (
    !isUseless &&
    html`<section class="gap form" aria-labelledby="connect"><h2 id="connect">Connect an assistant with it</h2>
${renderPrograms(addressOf(context), secret)}${
  missing.length > 0 &&
  html`<p class="hint">The key has not all scopes that an assistant can use: tools that need ${missing.map(
    (scope, at) => html`${at > 0 && ', '}<code>${scope}</code>`,
  )} are refused.</p>`
}</section>`
  );
}
