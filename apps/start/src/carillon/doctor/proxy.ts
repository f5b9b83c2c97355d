import { type Config, VERSION } from '@carillon/api/lib/config/config';
import { describeCause, type Finding, findingsFor } from '@carillon/api/product/system/checks/finding';

const { ok, warning } = findingsFor('reverse proxy');
const TIMEOUT_MS = 10_000;
const MAX_CLOCK_SKEW_MS = 2000;

/** Checks that this version answers at `BASE_URL`. Only warnings: this machine may not reach the URL of its clients. */
export async function checkProxy({ baseUrl, trustProxy }: Pick<Config, 'baseUrl' | 'trustProxy'>): Promise<Finding[]> {
  const findings = await checkHealth(`${baseUrl}/api/health`);
  if (baseUrl.startsWith('https:') && trustProxy === false) {
    findings.push(
      warning(
        'TRUST_PROXY is false although BASE_URL is https: all clients have the address of the proxy and share one rate limit.',
        'Set TRUST_PROXY to the address of the reverse proxy.',
      ),
    );
  }
  return findings;
}

async function checkHealth(url: string): Promise<Finding[]> {
  try {
    const askedAt = Date.now();
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const health = (await response.json().catch(() => ({}))) as { version?: unknown; timestamp?: unknown };
    const { version } = health;
    if (response.status !== 200 || typeof version !== 'string') {
      return [
        warning(
          `${url} answers with ${response.status}, but not as Carillon does.`,
          'Point the reverse proxy at the API, or correct BASE_URL.',
        ),
      ];
    }
    if (version !== VERSION) {
      return [warning(`Version ${version} answers at ${url}, this is ${VERSION}.`, 'Restart the API processes.')];
    }
    return [ok(`${url} answers as version ${version}`), ...checkClock(health.timestamp, askedAt, Date.now())];
  } catch (error) {
    return [
      warning(
        `${url} cannot be reached from here: ${describeCause(error)}`,
        'Start the API and the reverse proxy, or correct BASE_URL.',
      ),
    ];
  }
}

/** Tasks are due by the clocks of the API processes; this machine may not be one of theirs. */
function checkClock(timestamp: unknown, askedAt: number, answeredAt: number): Finding[] {
  const marginMs = (answeredAt - askedAt) / 2;
  const skewMs = Date.parse(String(timestamp)) - askedAt - marginMs;
  if (!(Math.abs(skewMs) - marginMs > MAX_CLOCK_SKEW_MS)) return [];
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  const side = skewMs > 0 ? 'ahead of' : 'behind';
  return [warning(`The clock of the API is ${seconds} s ${side} this machine's.`, 'Synchronise both clocks by NTP.')];
}
