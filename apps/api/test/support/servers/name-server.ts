import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

const TYPES = { A: 1, CNAME: 5, AAAA: 28 };

/** The records of each name, such as `A 127.0.0.1` or `CNAME other.test`; `silent` never answers. */
export type Zone = Record<string, readonly string[] | 'silent'>;

/** Starts a DNS server that follows CNAME records within its zone. */
export async function startNameServer(t: { after(work: () => unknown): unknown }, zone: Zone) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase());
      at += 1 + length;
    }
    const name = labels.join('.');
    const type = query.readUInt16BE(at + 1);
    asked.push(`${Object.keys(TYPES).find((key) => TYPES[key as keyof typeof TYPES] === type)} ${name}`);
    const known = zone[name];
    if (known === 'silent') return;
    const answers = follow(zone, name, type);
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  t.after(() => socket.close());
  return { address: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked };
}

function follow(zone: Zone, name: string, type: number): Buffer[] {
  const known = zone[name];
  if (!Array.isArray(known)) return [];
  return known.flatMap((record: string) => {
    const [kind, value = ''] = record.split(' ') as [keyof typeof TYPES, string];
    if (kind === 'CNAME') return [encode(name, TYPES.CNAME, encodeName(value)), ...follow(zone, value, type)];
    return TYPES[kind] === type ? [encode(name, type, encodeAddress(value))] : [];
  });
}

function encode(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fixed, data]);
}

const encodeName = (name: string) =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.alloc(1),
  ]);

function encodeAddress(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (side: string) => (side ? side.split(':') : []);
  const zeros = new Array<string>(8 - groups(head).length - groups(tail).length).fill('0');
  const all = [...groups(head), ...zeros, ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
