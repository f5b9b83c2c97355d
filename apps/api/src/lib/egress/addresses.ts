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
export function isNeverAllowed(address: string): boolean {
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

export function buildNetworkList(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}
