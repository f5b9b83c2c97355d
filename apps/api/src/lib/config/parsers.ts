import { isIP } from 'node:net';

export interface Parser<T> {
  /** What the variable accepts, for error messages and the reference. */
  expects: string;
  /** Returns undefined for a value that is not accepted. */
  parse: (value: string) => T | undefined;
  /** The empty value has a meaning of its own, other than unset. */
  allowsEmpty?: true;
}

export const text: Parser<string> = { expects: 'text', parse: (value) => value };

export const oneOf = <const W extends readonly string[]>(...words: W): Parser<W[number]> => ({
  expects: words.join(' or '),
  parse: (value) => words.find((word) => word === value),
});

export const boolean: Parser<boolean> = {
  expects: 'true or false',
  parse: (value) => ({ true: true, false: false })[value],
};

export const integer = (min: number, max: number): Parser<number> => ({
  expects: `a whole number from ${min} to ${max}`,
  parse: (value) => (/^\d+$/.test(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined),
});

export const positiveNumber: Parser<number> = {
  expects: 'a number above 0',
  parse: (value) => (Number.isFinite(Number(value)) && Number(value) > 0 ? Number(value) : undefined),
};

/** Days that something is stored. 0 means for ever. */
export const retentionDays = (min: number): Parser<number> => ({
  expects: `a whole number of days from ${min} to 36500, or 0 for no limit`,
  parse: (value) => (value === '0' ? 0 : integer(min, 36_500).parse(value)),
});

export const delays: Parser<readonly number[]> = {
  expects: 'whole milliseconds separated by commas',
  parse: (value) => (/^\d{1,9}(,\d{1,9})*$/.test(value) ? value.split(',').map(Number) : undefined),
};

export const url = (...protocols: string[]): Parser<string> => ({
  expects: `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse: (value) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol) ? value.replace(/\/+$/, '') : undefined,
});

export const httpUrl = url('http:', 'https:');

/** The parts after the scheme are checked where the driver's other limits are. */
export const databaseUrl: Parser<string> = {
  expects: url('postgres:', 'postgresql:').expects,
  parse: (value) => (/^postgres(ql)?:\/\//.test(value) ? value.replace(/\/+$/, '') : undefined),
};

/** A URL that a path is appended to. */
export const baseUrl: Parser<string> = {
  expects: `${httpUrl.expects} and has no user, query or fragment`,
  parse: (value) => {
    const { username, password } = URL.parse(value) ?? {};
    return username || password || /[?#]/.test(value) ? undefined : httpUrl.parse(value);
  },
};

/** A URL that has a host name or port of its own. */
export const siteUrl: Parser<string> = {
  expects: `${httpUrl.expects} and ends after the host and port: a path is not supported`,
  parse: (value) => {
    const parsed = URL.parse(value);
    return parsed && `${parsed.origin}/` === parsed.href ? httpUrl.parse(value) : undefined;
  },
};

/** Scheme, host and port, as browsers send them in `Origin`. */
export const origins: Parser<readonly string[]> = {
  expects: 'origins separated by commas, such as https://app.example.com,http://localhost:5173 (never *)',
  parse: (value) => {
    const list = value.split(',').map((entry) => (entry.includes('*') ? undefined : siteUrl.parse(entry.trim())));
    return list.every((entry) => entry !== undefined) ? list.map((entry) => new URL(entry).origin) : undefined;
  },
};

export const offlineOrHttpUrl: Parser<string> = {
  expects: 'offline, or an http(s) URL that ends before /chat/completions',
  parse: (value) => (value === 'offline' ? value : endsBefore('/chat/completions', value)),
};

export const anthropicUrl: Parser<string> = {
  expects: 'an http(s) URL that ends before /messages',
  parse: (value) => endsBefore('/messages', value),
};

function endsBefore(path: string, value: string): string | undefined {
  const accepted = httpUrl.parse(value);
  return accepted && URL.parse(accepted)?.pathname.endsWith(path) ? undefined : accepted;
}

export const bucketName: Parser<string> = {
  expects: 'the name of a bucket',
  parse: (value) => (/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(value) ? value : undefined),
};

const MAILBOX_NAME = /^[^\p{Cc}<>,;@"]+$/u;
const MAILBOX_ADDRESS = /^[^\s\p{Cc}<>,;@"]+@[^\s\p{Cc}<>,;@"]+$/u;

/** One sender. Rejects characters that could start another address or header. */
export const mailbox: Parser<string> = {
  expects: 'an e-mail address, or Name <address>',
  parse: (value) => {
    const [, name, address] = /^(.*) <(.*)>$/s.exec(value) ?? [];
    const isValid =
      address === undefined
        ? MAILBOX_ADDRESS.test(value)
        : MAILBOX_NAME.test(name ?? '') && MAILBOX_ADDRESS.test(address);
    return isValid ? value : undefined;
  },
};

export const trustedProxies: Parser<false | readonly string[]> = {
  expects:
    'false or a comma-separated list of proxy addresses or CIDRs (never true or a number of hops, which a client could forge)',
  allowsEmpty: true,
  parse: (value) => {
    if (value === 'false' || value.trim() === '') return false;
    const entries = value.split(',').map((entry) => entry.trim());
    return entries.every(isIpOrCidr) ? entries : undefined;
  },
};

/** The addresses of a network, at one port or (null) at every port. */
export interface Destination {
  address: string;
  bits: number;
  port: number | null;
}

/** The prefix length is required: it separates an IPv6 address from its port. */
export const destinations: Parser<readonly Destination[]> = {
  expects:
    'comma-separated CIDRs, each with an optional port, such as 10.0.0.0/8 or 192.168.1.20/32:9000 or fd00::/8:9000, or empty for none',
  allowsEmpty: true,
  parse: (value) => {
    const entries = value.trim() === '' ? [] : value.split(',').map((entry) => parseDestination(entry.trim()));
    return entries.every((entry) => entry !== null) ? entries : undefined;
  },
};

function parseDestination(entry: string): Destination | null {
  const [, cidr = '', port] = /^([^/]+\/\d{1,3})(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const [address = '', bits] = cidr.replace(/^\[([^\]]*:[^\]]*)\]/, '$1').split('/');
  if (!isIpOrCidr(`${address}/${bits}`) || address.includes('%') || port === '0' || Number(port ?? 1) > 65_535) {
    return null;
  }
  return { address, bits: Number(bits), port: port === undefined ? null : Number(port) };
}

function isIpOrCidr(value: string): boolean {
  const [ip = '', bits, ...rest] = value.split('/');
  const maxBits = { 4: 32, 6: 128 }[isIP(ip) as 4 | 6];
  if (maxBits === undefined || rest.length > 0) return false;
  return bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= maxBits);
}
