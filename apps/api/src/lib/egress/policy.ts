import { BlockList, isIP, isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { Destination } from '../config/parsers.ts';

export type EgressSettings = Pick<Config, 'production' | 'baseUrl' | 'appUrl' | 'port' | 'egressAllow'>;

/** `problem` is for the user who gave the address. */
type ParsedUrl = { url: { origin: string; path: string }; problem: null } | { url: null; problem: string };

export interface EgressPolicy {
  /** Does not resolve names. */
  parseUrl(url: string): ParsedUrl;
  /** Returns the addresses of a literal address or `localhost`; null for other hosts. */
  findLocalAddresses(host: string): readonly string[] | null;
  allows(address: string, port: number): boolean;
}

const MAX_CACHED_URLS = 2000;
const PORTS = [443, 8443];
const SOURCE_PORTS = [80, 443, 8080, 8443];
const LOOPBACK = ['127.0.0.1', '::1'];
const HOST_NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

interface EgressRules {
  /** What may be reached besides public addresses. */
  allow: readonly Destination[];
  protocols: readonly string[];
  /** Of public addresses; null: all. */
  ports: readonly number[] | null;
  /** Whether public addresses may be reached. */
  reachesPublic: boolean;
}

/** The rules of webhooks and channels. */
const toWebhookRules = ({ production, egressAllow }: EgressSettings): EgressRules => ({
  allow: egressAllow,
  protocols: production ? ['https:'] : ['https:', 'http:'],
  ports: production ? PORTS : null,
  reachesPublic: true,
});

/** The rules of sources; with `listedOnly` nothing but the addresses of `SOURCES_ALLOW`. */
export const toSourceRules = (
  { production, sourcesAllow }: Pick<Config, 'production' | 'sourcesAllow'>,
  { listedOnly = false } = {},
): EgressRules => ({
  allow: sourcesAllow,
  protocols: ['https:', 'http:'],
  ports: production ? SOURCE_PORTS : null,
  reachesPublic: !listedOnly,
});

export function createEgressPolicy(
  settings: EgressSettings,
  { allow, protocols, ports, reachesPublic } = toWebhookRules(settings),
): EgressPolicy {
  const { baseUrl, appUrl, port: ownPort } = settings;
  const isInAllowList = buildAllowList(allow);
  const ownHosts = [baseUrl, appUrl].map((own) => hostAndPort(new URL(own)));

  const allows = (text: string, port: number) => {
    const address = parseAddress(text);
    if (address === null || isNeverAllowed(address) || (port === ownPort && isOwnAddress(address))) return false;
    const isPublicPort = reachesPublic && (ports === null || ports.includes(port));
    return (isPublicPort && isPublic(address)) || isInAllowList(address, port);
  };

  const findProblem = (url: URL) => {
    const host = getHost(url);
    const port = getPort(url);
    if (!protocols.includes(url.protocol)) {
      return `must be an ${protocols.includes('http:') ? 'http or https' : 'https'} URL`;
    }
    if (url.username || url.password) return 'must not contain a user name or password';
    if (ownHosts.includes(hostAndPort(url))) return 'must not be a URL of this service';
    const local = findLocalAddresses(host);
    if (local === null && !HOST_NAME.test(host)) return 'must name a host';
    // Whether a port is allowed for the addresses of a name is known only when it is resolved.
    const isPortAllowed = ports === null || ports.includes(port) || allow.some((to) => (to.port ?? port) === port);
    if (!isPortAllowed) return `must use port ${ports.join(' or ')}`;
    if (local && !local.some((address) => allows(address, port))) return 'must be a public address';
    return null;
  };

  const parseUrl = (text: string): ParsedUrl => {
    if (!URL.canParse(text)) return { url: null, problem: 'must be a URL with a host' };
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

// IANA's special-purpose, multicast, reserved and deprecated networks, and the anycast networks of AS112 and AMT.
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const GLOBAL_IPV6 = '2000::/3';
/** 6to4 and Teredo hide an IPv4 address. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** Link-local networks, and where clouds hand out credentials of the machine: AWS, Google, Alibaba, Oracle, Azure. */
const NEVER = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
];

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

const special = buildNetworkList([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const global = buildNetworkList([GLOBAL_IPV6]);
const never = buildNetworkList(NEVER);

/** A positive rule, because ipaddr.js names special ranges only and lets unassigned networks pass. */
export function isPublic(address: string): boolean {
  const reached = translate(address);
  if (isIPv4(reached)) return !special.check(reached, 'ipv4');
  return global.check(reached, 'ipv6') && !special.check(reached, 'ipv6');
}

/** Whether no setting can allow the address. */
function isNeverAllowed(address: string): boolean {
  const reached = translate(address);
  return never.check(reached, isIPv4(reached) ? 'ipv4' : 'ipv6');
}

/** The IPv4 address in the last four bytes, where a NAT64 gateway forwards to it. */
function translate(address: string): string {
  if (isIPv4(address)) return address;
  const parsed = ipaddr.parse(address);
  return parsed.match(NAT64) ? ipaddr.fromByteArray(parsed.toByteArray().slice(12)).toString() : address;
}

/** Returns the canonical spelling, `::ffff:127.0.0.1` as IPv4; null for other texts and for a zone. */
export function parseAddress(text: string): string | null {
  // ipaddr.js also takes 127.1, octal and hexadecimal.
  if (text.includes('%') || isIP(text) === 0) return null;
  return ipaddr.process(text).toString();
}

function buildNetworkList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}
