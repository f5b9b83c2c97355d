import { lookup } from 'node:dns/promises';
import type { Config } from '@carillon/api/lib/config/config';
import { isPublic, parseAddress } from '@carillon/api/lib/egress/policy';
import { type DoctorTexts, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';

const { ok, warning } = findingsFor('assistants');
const TIMEOUT_MS = 10_000;

export interface AssistantOptions {
  /** Default: the resolver of the system. */
  resolve?: (host: string) => Promise<readonly string[]>;
  fetch?: typeof fetch;
}

const resolveHost = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * What claude.ai, ChatGPT and phones need, whose servers connect: https, a public address by IPv4, and the documents of
 * `BASE_URL` without a redirect, on which they drop their token.
 */
export async function checkAssistants(
  { baseUrl, dashboard }: Pick<Config, 'baseUrl' | 'dashboard'>,
  texts: DoctorTexts,
  { resolve = resolveHost, fetch: send = fetch }: AssistantOptions = {},
): Promise<Finding[]> {
  if (!dashboard) return [ok(texts.assistantsNeedPages)];
  const { protocol, hostname } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const addresses = parseAddress(host) === null ? await resolve(host).catch(() => []) : [host];
  const reached = addresses.filter(isPublic);
  if (reached.length === 0) return [ok(texts.assistantsHere(baseUrl))];
  if (protocol !== 'https:') return [warning(texts.assistantsNeedHttps(baseUrl), texts.useHttps)];
  if (reached.every((address) => address.includes(':')))
    return [warning(texts.assistantsNeedIpv4(host), texts.addIpv4)];
  const documents = [
    { path: '/.well-known/oauth-protected-resource/mcp', name: 'resource', value: `${baseUrl}/mcp` },
    { path: '/.well-known/oauth-authorization-server', name: 'issuer', value: baseUrl },
  ];
  for (const { path, name, value } of documents) {
    const url = `${baseUrl}${path}`;
    const answer = await ask(send, url);
    if (answer.redirect) return [warning(texts.assistantsRedirected(url), texts.setFinalAddress)];
    if (answer.document[name] !== value) return [warning(texts.assistantsNotServed(url), texts.passDocuments)];
  }
  return [ok(texts.assistantsConnect(`${baseUrl}/mcp`))];
}

async function ask(send: typeof fetch, url: string): Promise<{ redirect: boolean; document: Record<string, unknown> }> {
  try {
    const response = await send(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status >= 300 && response.status < 400) return { redirect: true, document: {} };
    const document = (await response.json()) as Record<string, unknown> | null;
    return { redirect: false, document: document ?? {} };
  } catch {
    return { redirect: false, document: {} };
  }
}
