import { isIP } from 'node:net';

/** What a variable takes, in words for the person who sets it, and how its text is read. */
export interface Parser<T> {
  takes: string;
  /** Returns undefined for a value that is none of `takes`. */
  parse: (value: string) => T | undefined;
  /** Set to nothing is a value of its own, and not the same as unset. */
  takesNothing?: true;
}

export const text: Parser<string> = { takes: 'text', parse: (value) => value };
export const oneOf = <const W extends readonly string[]>(...words: W): Parser<W[number]> => ({
  takes: words.join(' or '),
  parse: (value) => words.find((word) => word === value),
});
export const flag: Parser<boolean> = {
  takes: 'true or false',
  parse: (value) => ({ true: true, false: false })[value],
};
export const integer = (min: number, max: number): Parser<number> => ({
  takes: `a whole number from ${min} to ${max}`,
  parse: (value) => (/^\d+$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined),
});
export const positive: Parser<number> = {
  takes: 'a number above 0',
  parse: (value) => (Number.isFinite(Number(value)) && Number(value) > 0 ? Number(value) : undefined),
};
export const share: Parser<number> = {
  takes: 'a number from 0 to 1',
  parse: (value) => (/^(0|1|[01]?\.\d+)$/.test(value) && Number(value) <= 1 ? Number(value) : undefined),
};
/** How long something is kept, and not less than `least`. */
export const daysKept = (least: number): Parser<number> => ({
  takes: `a whole number of days from ${least} to 36500, or 0 for ever`,
  parse: (value) => (value === '0' ? 0 : integer(least, 36_500).parse(value)),
});
export const delays: Parser<readonly number[]> = {
  takes: 'whole milliseconds separated by commas',
  parse: (value) => (/^\d{1,9}(,\d{1,9})*$/.test(value) ? value.split(',').map(Number) : undefined),
};
export const address = (protocols: readonly string[]): Parser<string> => ({
  takes: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse: (value) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value.replace(/\/+$/, '') : undefined,
});
export const httpUrl = address(['http:', 'https:']);
/** An address that a path is added to. */
export const baseUrl: Parser<string> = {
  takes: `${httpUrl.takes} and has no user, query or fragment`,
  parse: (value) => {
    const { username, password } = URL.parse(value) ?? {};
    return username || password || /[?#]/.test(value) ? undefined : httpUrl.parse(value);
  },
};
export const bucketName: Parser<string> = {
  takes: 'the name of a bucket',
  parse: (value) => (/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(value) ? value : undefined),
};
const isCidr = (value: string) => {
  const [ip = '', bits, ...rest] = value.split('/');
  const width = { 4: 32, 6: 128 }[isIP(ip) as 4 | 6];
  return (
    rest.length === 0 && width !== undefined && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= width))
  );
};
export const proxies: Parser<false | readonly string[]> = {
  takes:
    'false or a comma-separated list of proxy addresses or CIDRs (never true or a number of hops, which a client could forge)',
  parse: (value) => {
    if (value === 'false') return false;
    const list = value.split(',').map((entry) => entry.trim());
    return list.every(isCidr) ? list : undefined;
  },
};

/** Addresses of one network, at one port or, where it is null, at every port. */
export interface Destination {
  address: string;
  bits: number;
  port: number | null;
}
/** The prefix length is never left out: it keeps an IPv6 address and its port apart. */
export const destinations: Parser<readonly Destination[]> = {
  takes:
    'comma-separated CIDRs, each with an optional port, such as 10.0.0.0/8 or 192.168.1.20/32:9000 or fd00::/8:9000, or nothing for none',
  takesNothing: true,
  parse: (value) => {
    const list = value.trim() === '' ? [] : value.split(',').map((entry) => destination(entry.trim()));
    return list.every((entry) => entry !== null) ? list : undefined;
  },
};
function destination(entry: string): Destination | null {
  const [, cidr = '', port] = /^([^/]+\/\d{1,3})(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const [address = '', bits] = cidr.replace(/^\[([^\]]*:[^\]]*)\]/, '$1').split('/');
  if (!isCidr(`${address}/${bits}`) || address.includes('%') || port === '0' || Number(port ?? 1) > 65_535) return null;
  return { address, bits: Number(bits), port: port === undefined ? null : Number(port) };
}

const NAME = /^[^\p{Cc}<>,;@"]+$/u;
const ADDRESS = /^[^\s\p{Cc}<>,;@"]+@[^\s\p{Cc}<>,;@"]+$/u;
/** A sender: one address, with or without a name. What could begin another address or header is refused. */
export const mailbox: Parser<string> = {
  takes: 'an e-mail address, or Name <address>',
  parse: (value) => {
    const [, name, bracketed] = /^(.*) <(.*)>$/s.exec(value) ?? [];
    const valid = bracketed === undefined ? ADDRESS.test(value) : NAME.test(name ?? '') && ADDRESS.test(bracketed);
    return valid ? value : undefined;
  },
};
