import { BlockList, isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

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

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

const special = buildNetworkList([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const global = buildNetworkList([GLOBAL_IPV6]);

/** A positive rule, because ipaddr.js names special ranges only and lets unassigned networks pass. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  const parsed = ipaddr.parse(address);
  // The last four bytes are an IPv4 address.
  if (parsed.match(NAT64)) return isPublic(ipaddr.fromByteArray(parsed.toByteArray().slice(12)).toString());
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** Returns the canonical spelling, `::ffff:127.0.0.1` as IPv4; null for other texts and for a zone. */
export function parseAddress(text: string): string | null {
  // ipaddr.js also takes 127.1, octal and hexadecimal.
  if (text.includes('%') || isIP(text) === 0) return null;
  return ipaddr.process(text).toString();
}

export function buildNetworkList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}
