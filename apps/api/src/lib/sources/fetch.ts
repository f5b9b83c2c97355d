import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Config, VERSION } from '../config/config.ts';
import { createConnector } from '../egress/connector.ts';
import { type ExchangeResult, exchange } from '../egress/exchange.ts';
import { createEgressPolicy, type EgressSettings, toSourceRules } from '../egress/policy.ts';
import { createPools } from '../egress/pools.ts';
import { createLookup, type Lookup } from '../egress/resolver.ts';

export interface HeaderSecret {
  name: string;
  value: string;
}

export interface PageRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent over https, or to an address of `SOURCES_ALLOW`; not to another host or port. */
  secret?: HeaderSecret | undefined;
}

/** `httpStatus` is the last one received. `message` is for the owner of the source. */
export interface FetchFailure {
  failed: true;
  httpStatus: number | null;
  message: string;
}

export type FetchedPage =
  | FetchFailure
  | { failed: false; httpStatus: number; url: string; headers: IncomingHttpHeaders; body: Buffer };

export interface PageClient {
  /** Never rejects. */
  get(request: PageRequest): Promise<FetchedPage>;
  close(): Promise<unknown>;
}

export interface PageClientOptions {
  lookup?: Lookup;
  unreachableMs?: number;
  timeoutMs?: number;
}

export const MAX_BYTES = 2 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
/** Each failure to connect takes as long as the slowest one, because the time would tell a closed port from no host. */
const UNREACHABLE_MS = 3000;
const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];
const WITH_BODY = [200, 203];
const USER_AGENT = `Carillon/${VERSION}`;

/** A client for pages that users name, behind a policy in which only `SOURCES_ALLOW` allows private addresses. */
export function createPageClient(
  settings: EgressSettings & Pick<Config, 'sourcesAllow'>,
  { lookup, unreachableMs = UNREACHABLE_MS, timeoutMs = TIMEOUT_MS }: PageClientOptions = {},
): PageClient {
  const resolve = lookup ?? createLookup({ useHostsFile: settings.sourcesAllow.length > 0 });
  const open = (listedOnly: boolean) => {
    const policy = createEgressPolicy(settings, toSourceRules(settings, { listedOnly }));
    return { policy, pools: createPools(createConnector(policy, resolve, unreachableMs), {}) };
  };
  const all = open(false);
  const listed = open(true);

  const request = async (
    address: URL,
    headers: PageRequest['headers'],
    secret: HeaderSecret | undefined,
    ms: number,
  ) => {
    const start = performance.now();
    const { policy, pools } = secret && address.protocol === 'http:' ? listed : all;
    const { url } = policy.parseUrl(address.href);
    const received: { headers: IncomingHttpHeaders; chunks: Buffer[]; stops: boolean } = {
      headers: {},
      chunks: [],
      stops: false,
    };
    const result: ExchangeResult | null =
      url &&
      (await exchange(pools.get(url.origin), {
        path: url.path,
        method: 'GET',
        headers: { ...headers, ...(secret && { [secret.name.toLowerCase()]: secret.value }) },
        connectMs: Math.min(unreachableMs, ms),
        timeoutMs: ms,
        maxBytes: MAX_BYTES,
        onHeaders(status, answered) {
          received.headers = answered;
          received.stops = !WITH_BODY.includes(status);
        },
        onData(chunk) {
          received.chunks.push(chunk);
          return received.stops;
        },
      }));
    if ((result?.status ?? null) === null && result?.end !== 'timeout') {
      await delay(Math.max(0, Math.min(unreachableMs, ms) - (performance.now() - start)));
    }
    return { result, headers: received.headers, body: Buffer.concat(received.chunks) };
  };

  return {
    async get({ url, headers, secret }) {
      const deadline = performance.now() + timeoutMs;
      const hasSecretHost = createHostCheck(url);
      let address = new URL(url);
      for (let redirects = 0; ; redirects += 1) {
        const given = hasSecretHost(address) ? secret : undefined;
        const left = Math.max(1, deadline - performance.now());
        const { result, ...received } = await request(address, { ...DEFAULT_HEADERS, ...headers }, given, left);
        const httpStatus = result?.status ?? null;
        const fail = (message: string): FetchFailure => ({ failed: true, httpStatus, message });
        if (result?.end === 'timeout') return fail(`The source did not answer within ${timeoutMs / 1000} s.`);
        if (httpStatus === null) {
          const isPlain = given !== undefined && address.protocol === 'http:';
          return fail(isPlain ? UNREACHABLE_PLAIN : UNREACHABLE);
        }
        const location = received.headers.location;
        const next =
          REDIRECTS.includes(httpStatus) && location !== undefined ? URL.parse(location, address.href) : null;
        if (next !== null) {
          if (redirects === MAX_REDIRECTS) return fail(`The source redirects more than ${MAX_REDIRECTS} times.`);
          address = next;
          continue;
        }
        if (httpStatus !== 304 && !WITH_BODY.includes(httpStatus)) return fail(`The source answered ${httpStatus}.`);
        if (result?.end === 'too_large') return fail(TOO_LARGE);
        if (result?.end !== 'complete') return fail('The answer of the source is not complete.');
        return { failed: false, httpStatus, url: address.href, ...received };
      }
    },
    close: () => Promise.all([all.pools.close(), listed.pools.close()]),
  };
}

export const TOO_LARGE = 'The source is larger than 2 MiB.';
const UNREACHABLE =
  'The source could not be reached: its host or certificate is wrong, it is down, or it is not public.';
const UNREACHABLE_PLAIN = `${UNREACHABLE} A secret needs https, or an address that the operator allows.`;
const DEFAULT_HEADERS = { 'user-agent': USER_AGENT, 'accept-encoding': 'gzip, deflate, br' };

/** Whether an address has the host and port of `url`, and does not go from https to http. */
function createHostCheck(url: string): (address: URL) => boolean {
  const first = new URL(url);
  return ({ host, protocol }) => host === first.host && protocol === first.protocol;
}
