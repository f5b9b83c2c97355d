import { BlockList, isIP, isIPv4 } from 'node:net';

// IANA's registries of special-purpose addresses, and those of multicast, reserved and deprecated ones. The anycast
// networks of AS112 and AMT are global, but nobody's receiver is there.
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
/** All that is handed out; the rest of IPv6 is special, or nobody's yet. */
const GLOBAL_IPV6 = '2000::/3';
/** Within it. 6to4 and Teredo are among them: they hide an IPv4 address, and no receiver needs them. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

const special = listOf([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const global = listOf([GLOBAL_IPV6]);

/**
 * Whether an address, as `readAddress` writes it, is one of the public Internet. A positive rule: what no registry has
 * handed out is not.
 */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  // A translator's address is as public as the IPv4 address behind it.
  const translated = embeddedIPv4(address, NAT64);
  if (translated) return isPublic(translated);
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/**
 * The one spelling of an address: IPv6 as the URL standard writes it, IPv4 inside IPv6 (`::ffff:127.0.0.1`) as IPv4,
 * which is where a connection to it goes. Null for what is none, or is one of a zone (`fe80::1%eth0`).
 */
export function readAddress(text: string): string | null {
  const version = text.includes('%') ? 0 : isIP(text);
  if (version === 0) return null;
  if (version === 4) return text;
  const address = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return embeddedIPv4(address, MAPPED) ?? address;
}

/** The networks of `cidrs`, each an address and the length of its prefix. */
export function listOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', bits] = cidr.split('/');
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

const MAPPED = [0, 0, 0, 0, 0, 0xffff];
const NAT64 = [0x64, 0xff9b, 0, 0, 0, 0];

/** The last four bytes of an IPv6 address that begins with `prefix`. */
function embeddedIPv4(address: string, prefix: readonly number[]): string | null {
  const [head = [], tail = []] = address
    .split('::')
    .map((side) => (side ? side.split(':').map((group) => Number.parseInt(group, 16)) : []));
  const groups = [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail];
  if (!prefix.every((group, at) => groups[at] === group)) return null;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
}
