import t from 'tap';
import { AppError } from '../../src/errors.ts';
import { getFileFormat } from '../../src/product/uploads/file-formats.ts';
import { inspect, MAX_FILE_BYTES } from '../../src/product/uploads/inspect.ts';
import { buildText, images, MIB, PDF } from '../support/uploads.ts';

async function* inPieces(content: Buffer, piece: number) {
  for (let at = 0; at < content.length; at += piece) yield content.subarray(at, at + piece);
}

/** Why a file is refused; null if it is passed on unchanged. */
async function refusalOf(name: string, content: Buffer | string, piece = 64 * 1024): Promise<string | null> {
  const bytes = Buffer.from(content);
  const handed: Buffer[] = [];
  const counted = { size: 0 };
  try {
    for await (const chunk of inspect(
      inPieces(bytes, piece),
      getFileFormat(name, 'application/octet-stream'),
      counted,
    )) {
      handed.push(chunk);
    }
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return String(error.details?.file);
    throw error;
  }
  if (!Buffer.concat(handed).equals(bytes) || counted.size !== bytes.length) return 'passed on changed';
  return null;
}

const GOOD: Record<string, Buffer | string> = {
  'a.png': images.png(),
  'a.jpg': images.jpeg(),
  'a.jpeg': images.jpeg(),
  'a.gif': images.gif(),
  'a.webp': images.webp(),
  'a.pdf': PDF,
  'a.txt': 'BMW and MZ: ä€😀\n\n',
  'a.md': '# Title\n\n<b>bold</b>',
  'a.csv': 'name;size\r\nbell;12\r\n',
  'a.json': '{"a": [1, 2, {"b": "ä€😀"}]}',
};

t.test('A file of each type is passed on unchanged, in pieces of any size', async (t) => {
  for (const [name, content] of Object.entries(GOOD)) {
    for (const piece of [1, 7, 4100, 64 * 1024]) t.equal(await refusalOf(name, content, piece), null, name);
  }
});

t.test('What is short, cut off or malformed is accepted', async (t) => {
  const png = images.png();
  const accepted: [name: string, content: Buffer | string][] = [
    ['a.pdf', '%PDF-1.4 test'],
    ['a.pdf', PDF.subarray(0, 5)],
    ['a.png', png.subarray(0, 8)],
    ['a.png', png.subarray(0, 4)],
    ['a.png', png.subarray(0, -20)],
    ['a.png', 'not really an image'],
    ['a.png', images.png(0, 65_535)],
    ['a.jpg', images.jpeg().subarray(0, 3)],
    ['a.gif', 'GIF89a'],
    ['a.webp', images.webp().subarray(0, 12)],
    ['a.json', 'not json'],
    ['a.json', '['.repeat(MIB)],
    ['a.csv', Buffer.from('caf\xe9;1', 'latin1')],
    ['a.txt', Buffer.from('€').subarray(0, 2)],
    ['a.txt', '<!doctype html><p>'],
    ['a.md', '<p align="center">'],
    ['a.txt', 'GIF or PNG? BMW and MZ'],
    ['a.txt', '#!/bin/sh'],
  ];
  for (const [name, content] of accepted)
    t.equal(await refusalOf(name, content), null, `${name} ${content}`.slice(0, 60));
});

t.test('A file of one format with the extension of another is refused', async (t) => {
  const isText = (name: string) => /txt|md|csv|json/.test(name);
  for (const [name, content] of Object.entries(GOOD)) {
    for (const other of Object.keys(GOOD)) {
      if (name.slice(0, 4) === other.slice(0, 4) || isText(name)) continue;
      t.match(await refusalOf(other, content), /\w/, `${name} as ${other}`);
      t.match(await refusalOf(other, Buffer.from(content).subarray(0, 12)), /\w/, `the start of ${name} as ${other}`);
    }
  }
});

t.test('Programs, archives and other images are refused under every extension, also cut off', async (t) => {
  const others: Record<string, Buffer> = {
    exe: Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0'), Buffer.alloc(100)]),
    zip: Buffer.from('PK\x03\x04\x14\0\0\0\x08\0', 'latin1'),
    'zip of 4 bytes': Buffer.from('PK\x03\x04', 'latin1'),
    bmp: Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
    tiff: Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), Buffer.alloc(100)]),
    gzip: Buffer.from('1f8b0800000000000003', 'hex'),
    elf: Buffer.from('7f454c46020101000000000000000000', 'hex'),
    'elf of 4 bytes': Buffer.from('7f454c46', 'hex'),
    heic: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'),
  };
  for (const [what, content] of Object.entries(others)) {
    for (const name of Object.keys(GOOD)) t.match(await refusalOf(name, content), /\w/, `${what} as ${name}`);
  }
});

t.test('Markup and scripts are refused as images and PDF', async (t) => {
  for (const content of [
    '<!DOCTYPE html><p>',
    '  \n\t<HTML lang="en">',
    '\ufeff \n<script>alert(1)</script>',
    '<!-- note --><svg/>',
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    '<?xml version="1.0"?><svg/>',
    '#!/bin/sh\nrm -r .',
  ]) {
    for (const name of ['a.png', 'a.gif', 'a.jpg', 'a.webp', 'a.pdf']) {
      for (const piece of [1, 4100])
        t.match(await refusalOf(name, content, piece), /not contain/, `${content} as ${name}`);
    }
  }
});

t.test('Text has no NUL, to the last byte', async (t) => {
  for (const name of ['a.txt', 'a.md', 'a.csv', 'a.json']) {
    t.match(await refusalOf(name, 'a\0b'), /NUL/);
    t.match(await refusalOf(name, Buffer.from('\ufeffa', 'utf16le')), /NUL/);
    t.match(await refusalOf(name, Buffer.concat([buildText(MIB), Buffer.from([0])])), /NUL/);
  }
});

t.test('An animated PNG is a PNG', async (t) => {
  const png = images.png();
  const control = Buffer.from(
    `${'00000008'}${Buffer.from('acTL').toString('hex')}${'0000000200000000'}${'00000000'}`,
    'hex',
  );
  t.equal(await refusalOf('a.png', Buffer.concat([png.subarray(0, 33), control, png.subarray(33)])), null);
});

t.test('Random bytes behind a signature are accepted or refused, and never an error', async (t) => {
  let seed = 20_261_120;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed >>> 8) % below;
  };
  const starts = [
    '89504e470d0a1a0a',
    'ffd8ff',
    '474946383961',
    '524946460000000057454250',
    '255044462d',
    '1f8b08',
    '504b0304',
  ];
  const names = Object.keys(GOOD);
  let taken = 0;
  for (let round = 0; round < 5000; round++) {
    const start = Buffer.from(starts[random(starts.length)] ?? '', 'hex');
    const rest = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
    const refused = await refusalOf(names[random(names.length)] ?? '', Buffer.concat([start, rest]), 1 + random(300));
    taken += Number(refused === null);
  }
  t.ok(taken < 5000, `${taken} were taken`);
});

t.test('10 MiB are accepted, one byte more and an empty file are not', async (t) => {
  t.equal(await refusalOf('a.txt', buildText(MAX_FILE_BYTES)), null);
  t.match(await refusalOf('a.txt', buildText(MAX_FILE_BYTES + 1)), /at most 10485760 bytes/);
  for (const name of Object.keys(GOOD)) t.equal(await refusalOf(name, ''), 'must not be empty', name);
});

t.test('The type is the declared one, or else that of the extension', async (t) => {
  const refused = (name: string, declared: string) =>
    t.throws(() => getFileFormat(name, declared), AppError, `${name} ${declared}`);
  const is = (name: string, declared: string, type: string) =>
    t.equal(getFileFormat(name, declared).mime, type, `${name} ${declared}`);
  is('a.csv', 'text/csv', 'text/csv');
  is('a.csv', 'text/markdown', 'text/markdown');
  is('a.csv', 'text/plain', 'text/plain');
  is('a.pdf', 'image/png', 'image/png');
  is('a.png', 'IMAGE/PNG', 'image/png');
  is('blob', 'image/png', 'image/png');
  is('README', 'text/plain', 'text/plain');
  is('notes.log', 'text/plain', 'text/plain');
  is('tower.v2', 'image/webp', 'image/webp');
  is('a.CSV', 'application/vnd.ms-excel', 'text/csv');
  is('a.json', 'application/octet-stream', 'application/json');
  is('a.jpg', 'image/jpg', 'image/jpeg');
  is('a.png', 'nonsense', 'image/png');
  // Parts of a form without a type.
  is('a.png', 'text/plain', 'image/png');
  is('blob', 'application/octet-stream', 'text/plain');
  for (const name of ['a.html', 'a.svg', 'a.xml', 'a.txt.exe', 'a.EXE', 'a.exe.', 'a.js', 'a.sh']) {
    for (const declared of ['text/plain', 'image/png', 'application/octet-stream']) refused(name, declared);
  }
  for (const name of ['a.', 'a.zip', 'a.jpgx', 'a.docx']) refused(name, 'application/octet-stream');
  for (const declared of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript']) {
    for (const name of ['a.txt', 'a.png', 'blob']) refused(name, declared);
  }
  refused('blob', 'application/zip');
  refused('blob', '');
});
