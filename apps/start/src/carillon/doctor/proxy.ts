import { type Config, VERSION } from '@carillon/api/lib/config/config';
import {
  type DoctorTexts,
  describeCause,
  type Finding,
  findingsFor,
} from '@carillon/api/product/system/checks/finding';

const { ok, warning } = findingsFor('reverse proxy');
const TIMEOUT_MS = 10_000;
const MAX_CLOCK_SKEW_MS = 2000;

/** Checks that this version answers at `BASE_URL`. Only warnings: this machine may not reach the URL of its clients. */
export async function checkProxy(
  { baseUrl, trustProxy }: Pick<Config, 'baseUrl' | 'trustProxy'>,
  texts: DoctorTexts,
): Promise<Finding[]> {
  const findings = await checkHealth(`${baseUrl}/api/health`, texts);
  if (baseUrl.startsWith('https:') && trustProxy === false) {
    findings.push(warning(texts.sharedAddress, texts.setTrustProxy));
  }
  return findings;
}

async function checkHealth(url: string, texts: DoctorTexts): Promise<Finding[]> {
  try {
    const askedAt = Date.now();
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    const health = (await response.json().catch(() => ({}))) as { version?: unknown; timestamp?: unknown };
    const { version } = health;
    if (response.status !== 200 || typeof version !== 'string') {
      return [warning(texts.notCarillon(url, response.status), texts.pointProxy)];
    }
    if (version !== VERSION) {
      return [warning(texts.otherVersion(version, url, VERSION), texts.restartProcesses)];
    }
    return [ok(texts.versionAnswers(url, version)), ...checkClock(health.timestamp, askedAt, Date.now(), texts)];
  } catch (error) {
    return [warning(texts.unreachableFromHere(url, describeCause(error)), texts.startProxy)];
  }
}

/** Tasks are due by the clocks of the API processes; this machine may not be one of theirs. */
function checkClock(timestamp: unknown, askedAt: number, answeredAt: number, texts: DoctorTexts): Finding[] {
  const marginMs = (answeredAt - askedAt) / 2;
  const skewMs = Date.parse(String(timestamp)) - askedAt - marginMs;
  if (!(Math.abs(skewMs) - marginMs > MAX_CLOCK_SKEW_MS)) return [];
  const seconds = (Math.abs(skewMs) / 1000).toFixed(1);
  return [warning(texts.apiClock(seconds, skewMs > 0), texts.synchroniseClocks)];
}
