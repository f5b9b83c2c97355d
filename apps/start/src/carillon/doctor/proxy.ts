import { type Config, VERSION } from '@carillon/api/config/config';
import { type Finding, findingsOf, messageOf } from './finding.ts';

const { ok, warning } = findingsOf('reverse proxy');
const PATIENCE_MS = 10_000;

/** Whether clients reach this version at `BASE_URL`. Where this machine may not go the way of its clients, it cannot tell. */
export async function examineProxy({
  baseUrl,
  trustProxy,
}: Pick<Config, 'baseUrl' | 'trustProxy'>): Promise<Finding[]> {
  const findings = [await ask(`${baseUrl}/api/health`)];
  if (baseUrl.startsWith('https:') && trustProxy === false) {
    findings.push(
      warning(
        'TRUST_PROXY is false although BASE_URL is https: all clients seem to come from the proxy and share one limit.',
        'Set TRUST_PROXY to the address of the reverse proxy.',
      ),
    );
  }
  return findings;
}

async function ask(url: string): Promise<Finding> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    const { version } = (await response.json().catch(() => ({}))) as { version?: unknown };
    if (response.status !== 200 || typeof version !== 'string') {
      return warning(
        `${url} answers with ${response.status}, but not as Carillon does.`,
        'Point the reverse proxy at the API, or correct BASE_URL.',
      );
    }
    if (version !== VERSION)
      return warning(`Version ${version} answers at ${url}, this is ${VERSION}.`, 'Restart the API processes.');
    return ok(`${url} answers as version ${version}`);
  } catch (error) {
    return warning(
      `${url} cannot be reached from here: ${messageOf(error)}`,
      'Start the API and the reverse proxy, or correct BASE_URL.',
    );
  }
}
