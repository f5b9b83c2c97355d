import { networkInterfaces } from 'node:os';
import type { Config } from '../config/config.ts';
import type { Destination } from '../config/parsers.ts';
import { isPublic, listOf, readAddress } from './addresses.ts';

export type EgressSettings = Pick<Config, 'production' | 'baseUrl' | 'appUrl' | 'port' | 'egressAllow'>;

/** An address as it will be used, or what is wrong with it, for the person who gave it. */
export type Target = { url: { origin: string; path: string }; problem: null } | { url: null; problem: string };

/** Where requests to addresses that users give may go (security T1, T30). */
export interface Egress {
  /** Parses an address, which nobody else does; asks no name server. */
  read(url: string): Target;
  /** The addresses of a host that need no name server: its own, where it is one, or those of `localhost`. */
  knownAddresses(host: string): readonly string[] | null;
  /** Whether a connection may go there. */
  admits(address: string, port: number): boolean;
}

const MOST_KNOWN = 2000;
const PORTS = [443, 8443];
const LOOPBACK = ['127.0.0.1', '::1'];
const NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Public addresses, in production by https at port 443 or 8443, in development by http too and at any port; besides
 * what `EGRESS_ALLOW` names, at the ports that it names. Never the service itself.
 */
export function createEgress({ production, baseUrl, appUrl, port: ownPort, egressAllow }: EgressSettings): Egress {
  const allowed = allowedBy(egressAllow);
  const ownHosts = [baseUrl, appUrl].map((own) => hostAndPort(new URL(own)));

  const admits = (given: string, port: number) => {
    const address = readAddress(given);
    if (address === null || (port === ownPort && isOwn(address))) return false;
    return (isPublic(address) && (!production || PORTS.includes(port))) || allowed(address, port);
  };

  const findProblem = (url: URL) => {
    const host = hostOf(url);
    const port = portOf(url);
    const schemes = production ? ['https:'] : ['https:', 'http:'];
    if (!schemes.includes(url.protocol)) return `must be an ${production ? 'https' : 'http or https'} address`;
    if (url.username || url.password) return 'must not contain a user name or password';
    if (ownHosts.includes(hostAndPort(url))) return 'must not be an address of this service';
    const known = knownAddresses(host);
    if (known === null && !NAME.test(host)) return 'must name a host';
    // The addresses of a name show only when they are used, and whether the port is allowed there.
    const portAllowed = !production || PORTS.includes(port) || egressAllow.some((to) => (to.port ?? port) === port);
    if (!portAllowed) return `must use port ${PORTS.join(' or ')}`;
    if (known && !known.some((address) => admits(address, port))) return 'must be a public address';
    return null;
  };

  const read = (text: string): Target => {
    if (!URL.canParse(text)) return { url: null, problem: 'must be an address with a host' };
    const url = new URL(text);
    const problem = findProblem(url);
    if (problem !== null) return { url: null, problem };
    url.hostname = url.hostname.replace(/\.$/, '');
    return { url: { origin: url.origin, path: url.pathname + url.search }, problem };
  };

  // The same receivers over and over; what was read of an address never changes.
  const known = new Map<string, Target>();
  return {
    read(text) {
      const found = known.get(text) ?? read(text);
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(text, found);
      return found;
    },
    knownAddresses,
    admits,
  };
}

function knownAddresses(host: string): readonly string[] | null {
  // Asking for these would leave the machine, and could be answered by anyone (RFC 6761).
  if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK;
  const address = readAddress(host);
  return address === null ? null : [address];
}

function allowedBy(destinations: readonly Destination[]) {
  const networks = Map.groupBy(destinations, ({ port }) => port);
  const lists = [...networks].map(([port, list]) => ({
    port,
    list: listOf(list.map(({ address, bits }) => `${address}/${bits}`)),
  }));
  return (address: string, port: number) =>
    lists.some((to) => (to.port ?? port) === port && to.list.check(address, address.includes(':') ? 'ipv6' : 'ipv4'));
}

function isOwn(address: string): boolean {
  if (/^(127|0)\.|^::1?$/.test(address)) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((mine) => readAddress(mine.address) === address);
}

/** Without the brackets of IPv6 and the dot that ends a full name. */
const hostOf = (url: URL) => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
const portOf = (url: URL) => Number(url.port || { 'http:': 80, 'https:': 443 }[url.protocol]);
const hostAndPort = (url: URL) => `${hostOf(url)}:${portOf(url)}`;
