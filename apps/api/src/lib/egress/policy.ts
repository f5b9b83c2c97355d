import { networkInterfaces } from 'node:os';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { Destination } from '../config/parsers.ts';
import { buildNetworkList, isNeverAllowed, isPublic, parseAddress } from './addresses.ts';

export type EgressSettings = Pick<Config, 'production' | 'baseUrl' | 'appUrl' | 'port' | 'egressAllow'>;

/** `problem` is for the user who gave the address. */
export type ParsedUrl = { url: { origin: string; path: string }; problem: null } | { url: null; problem: string };

export interface EgressPolicy {
  /** Does not resolve names. */
  parseUrl(url: string): ParsedUrl;
  /** Returns the addresses of a literal address or `localhost`; null for other hosts. */
  findLocalAddresses(host: string): readonly string[] | null;
  allows(address: string, port: number): boolean;
}

const MAX_CACHED_URLS = 2000;
const PORTS = [443, 8443];
const LOOPBACK = ['127.0.0.1', '::1'];
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export function createEgressPolicy({
  production,
  baseUrl,
  appUrl,
  port: ownPort,
  egressAllow,
}: EgressSettings): EgressPolicy {
  const isInAllowList = buildAllowList(egressAllow);
  const ownHosts = [baseUrl, appUrl].map((own) => hostAndPort(new URL(own)));

  const allows = (text: string, port: number) => {
    const address = parseAddress(text);
    if (address === null || isNeverAllowed(address) || (port === ownPort && isOwnAddress(address))) return false;
    return (isPublic(address) && (!production || PORTS.includes(port))) || isInAllowList(address, port);
  };

  const findProblem = (url: URL) => {
    const host = getHost(url);
    const port = getPort(url);
    const schemes = production ? ['https:'] : ['https:', 'http:'];
    if (!schemes.includes(url.protocol)) return `must be an ${production ? 'https' : 'http or https'} address`;
    if (url.username || url.password) return 'must not contain a user name or password';
    if (ownHosts.includes(hostAndPort(url))) return 'must not be an address of this service';
    const local = findLocalAddresses(host);
    if (local === null && !HOST_NAME.test(host)) return 'must name a host';
    // Whether a port is allowed for the addresses of a name is known only when it is resolved.
    const isPortAllowed = !production || PORTS.includes(port) || egressAllow.some((to) => (to.port ?? port) === port);
    if (!isPortAllowed) return `must use port ${PORTS.join(' or ')}`;
    if (local && !local.some((address) => allows(address, port))) return 'must be a public address';
    return null;
  };

  const parseUrl = (text: string): ParsedUrl => {
    if (!URL.canParse(text)) return { url: null, problem: 'must be an address with a host' };
    const url = new URL(text);
    const problem = findProblem(url);
    if (problem !== null) return { url: null, problem };
    url.hostname = url.hostname.replace(/\.$/, '');
    return { url: { origin: url.origin, path: url.pathname + url.search }, problem };
  };

  const cache = new LRUCache<string, ParsedUrl>({ max: MAX_CACHED_URLS, memoMethod: parseUrl });
  return { parseUrl: (url) => cache.memo(url), findLocalAddresses, allows };
}

function findLocalAddresses(host: string): readonly string[] | null {
  // A query for these would leave the machine, and anyone could answer it (RFC 6761).
  if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK;
  const address = parseAddress(host);
  return address === null ? null : [address];
}

function buildAllowList(destinations: readonly Destination[]) {
  const networks = Map.groupBy(destinations, ({ port }) => port);
  const lists = [...networks].map(([port, list]) => ({
    port,
    list: buildNetworkList(list.map(({ address, bits }) => `${address}/${bits}`)),
  }));
  return (address: string, port: number) =>
    lists.some((to) => (to.port ?? port) === port && to.list.check(address, address.includes(':') ? 'ipv6' : 'ipv4'));
}

function isOwnAddress(address: string): boolean {
  if (/^(127|0)\.|^::1?$/.test(address)) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((entry) => parseAddress(entry.address) === address);
}

const getHost = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
const getPort = (url: URL) => Number(url.port || { 'http:': 80, 'https:': 443 }[url.protocol]);
const hostAndPort = (url: URL) => `${getHost(url)}:${getPort(url)}`;
