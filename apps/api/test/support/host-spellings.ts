/** A spelling of a host in a URL. */
export interface Spelling {
  host: string;
  /** `user@`, if the spelling needs it. */
  before?: string;
}

const RADICES = [
  (value: number) => value.toString(),
  (value: number) => `0${value.toString(8)}`,
  (value: number) => `0x${value.toString(16)}`,
  (value: number) => `0X000${value.toString(16).toUpperCase()}`,
];
const FULL_WIDTH = (text: string) => text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));
const MATHEMATICAL = (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0x1d7ce + Number(digit)));
const SUPERSCRIPT = (text: string) => text.replace(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] as string);
const PERCENT = (text: string) => text.replace(/./g, (char) => `%${char.charCodeAt(0).toString(16)}`);
const DOTS = ['。', '．', '｡', '%2e', '%E3%80%82'];

/** Spellings that the URL standard parses as this IPv4 address. */
export function spellIPv4(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const shapes = [
    [a, b, c, d],
    [a, b, c * 256 + d],
    [a, b * 65_536 + c * 256 + d],
    [a * 16_777_216 + b * 65_536 + c * 256 + d],
  ];
  const spelt = shapes.flatMap((parts) =>
    RADICES.flatMap((first) =>
      RADICES.map((other) => parts.map((part, at) => (at === 0 ? first : other)(part)).join('.')),
    ),
  );
  return unique([
    ...spelt,
    ...spelt.slice(0, 8).map((text) => `${text}.`),
    ...DOTS.map((dot) => address.replaceAll('.', dot)),
    ...[FULL_WIDTH, MATHEMATICAL, SUPERSCRIPT, PERCENT].map((write) => write(address)),
    FULL_WIDTH(`0x${a.toString(16)}`) + address.slice(address.indexOf('.')),
    PERCENT(`0${a.toString(8)}`) + address.slice(address.indexOf('.')),
    address.replace('.', '\u00ad.'),
    address.replace('.', '.\t'),
  ]);
}

/** The IPv4-mapped IPv6 addresses. */
export function spellMapped(address: string): string[] {
  const hex = toHexGroups(address);
  return [
    `[::ffff:${address}]`,
    `[::FFFF:${address}]`,
    `[::ffff:${hex}]`,
    `[0:0:0:0:0:ffff:${hex}]`,
    `[0000:0000:0000:0000:0000:ffff:${address}]`,
    `[0::0:ffff:${hex.toUpperCase()}]`,
  ];
}

/** IPv6 addresses that NAT64 or a tunnel may route to this IPv4 address. */
export function spellTunnelled(address: string): string[] {
  const hex = toHexGroups(address);
  const inverted = toHexGroups(
    address
      .split('.')
      .map((byte) => 255 - Number(byte))
      .join('.'),
  );
  return [
    `[::${address}]`,
    `[::${hex}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:FF9B::${hex}]`,
    `[64:ff9b:1::${address}]`,
    `[2002:${hex}::]`,
    `[2002:${hex}::1]`,
    `[2001::${inverted}]`,
    `[2001:0:4136:e378:8000:63bf:${inverted}]`,
    `[fe80::5efe:${address}]`,
    `[fe80::200:5efe:${hex}]`,
  ];
}

/** Spellings that the URL standard parses as this IPv6 address. */
export function spellIPv6(address: string): string[] {
  const short = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = short.split('::').map((side) => side);
  const count = (side: string) => (side ? side.split(':').length : 0);
  const zeros = short.includes('::') ? new Array<string>(8 - count(head) - count(tail)).fill('0') : [];
  const groups = [...(head ? head.split(':') : []), ...zeros, ...(tail ? tail.split(':') : [])];
  const last = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return unique([
    `[${short}]`,
    `[${short.toUpperCase()}]`,
    `[${groups.join(':')}]`,
    `[${groups.map((group) => group.padStart(4, '0')).join(':')}]`,
    `[${groups.slice(0, 6).join(':')}:${last.flatMap((group) => [group >> 8, group & 255]).join('.')}]`,
  ]);
}

/** Spellings that the URL standard refuses, although a lax parser might accept them. */
export function spellInvalid(address: string): string[] {
  return [
    `[${address}]`,
    `[::ffff:${address}%25lo]`,
    '[::1%25lo]',
    '[::1%lo]',
    '[fe80::1%25eth0]',
    `${address}%00.example.com`,
    `${address}%0d%0a`,
    `${address}..`,
    `.${address}`,
    `${address} .example.com`,
    address.replace('.', '\u2024'),
    `${address.replace('.', '%252e')}`,
    address.replace(/\d+$/, '256'),
    `${address}.0`,
  ];
}

export const LOCAL_NAMES = [
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'hooks.localhost',
  'a.b.c.LOCALHOST.',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  'ｌｏｃａｌｈｏｓｔ',
  'loc\u00adalhost',
  '%6c%6F%63alhost',
  'local\thost',
  'receiver。localhost',
];

const toHexGroups = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};
const unique = (list: string[]) => [...new Set(list)];
