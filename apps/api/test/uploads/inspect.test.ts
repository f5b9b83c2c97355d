import t from 'tap';
import { AppError } from '../../src/errors.ts';
import { getFileFormat } from '../../src/uploads/file-formats.ts';
import { inspect, MAX_FILE_BYTES } from '../../src/uploads/inspect.ts';
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

t.test('A file of one type with the extension of another is refused', async (t) => {
  const isText = (name: string) => /txt|md|csv|json/.test(name);
  for (const [name, content] of Object.entries(GOOD)) {
    for (const other of Object.keys(GOOD)) {
      if (name.slice(0, 4) === other.slice(0, 4) || (isText(name) && isText(other))) continue;
      t.match(await refusalOf(other, content), /\w/, `${name} as ${other}`);
    }
  }
});

t.test('Programs, archives and other images are refused under every extension', async (t) => {
  const others: Record<string, Buffer> = {
    exe: Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0'), Buffer.alloc(100)]),
    zip: Buffer.from('PK\x03\x04\x14\0\0\0\x08\0', 'latin1'),
    bmp: Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
    tiff: Buffer.from('II*\0\x08\0\0\0', 'latin1'),
    gzip: Buffer.from('1f8b0800000000000003', 'hex'),
    elf: Buffer.from('7f454c46020101000000000000000000', 'hex'),
    heic: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0heicmif1', 'latin1'),
  };
  for (const [what, content] of Object.entries(others)) {
    for (const name of Object.keys(GOOD)) t.match(await refusalOf(name, content), /\w/, `${what} as ${name}`);
  }
});

const PAGES = [
  '<!DOCTYPE html><p>',
  '<html>',
  '  \n\t<HTML lang="en">',
  '\ufeff<html>',
  '\ufeff \n<script>alert(1)</script>',
  '<script src=x>',
  '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
  '<?xml version="1.0"?><svg/>',
  '<iframe src=x>',
  '<body onload=x>',
  '<style>',
  '<rss version="2.0">',
  `${' '.repeat(200_000)}<script>`,
  '<html',
];

t.test('Pages, scripts, SVG and XML are refused as text', async (t) => {
  for (const page of PAGES) {
    for (const name of ['a.txt', 'a.md', 'a.csv', 'a.json'])
      t.match(await refusalOf(name, page), /\w/, `${page} ${name}`);
    t.match(await refusalOf('a.txt', page, 1), /must be plain text/, 'byte by byte too');
  }
  for (const svg of ['<svg/>', '<?xml version="1.0"?><svg/>']) {
    for (const name of ['a.png', 'a.gif', 'a.jpg', 'a.webp', 'a.pdf']) t.match(await refusalOf(name, svg), /\w/, name);
  }
});

t.test('Markdown may begin with an HTML element, other text may not', async (t) => {
  for (const begin of ['<p align="center">', '<!-- note -->', '<h1>Title</h1>', '<div>', '<a name="x">', '<br>']) {
    t.equal(await refusalOf('README.md', `${begin}\n# Title`), null, begin);
    t.match(await refusalOf('a.txt', `${begin}\nTitle`), /plain text/, begin);
  }
  for (const text of [
    '<ada@example.com> wrote',
    '<info> started',
    'a <script> in the middle',
    '<better than>',
    'GIF or PNG?',
    '%PD',
  ]) {
    t.equal(await refusalOf('a.txt', text), null, text);
  }
});

t.test('Documents of other formats that are text are refused as text', async (t) => {
  for (const text of [
    '%PDF-1.4\n%%EOF',
    '\ufeff%PDF-1.4',
    '%!PS-Adobe-3.0',
    '{\\rtf1 hello}',
    'GIF89a,b,c',
    'RIFFabcdWEBPVP8 ',
    ' %PDF-1.4',
  ]) {
    t.match(await refusalOf('a.txt', text), /\w/, text);
  }
});

t.test('Text is UTF-8 without NUL, to the last byte', async (t) => {
  for (const name of ['a.txt', 'a.md', 'a.csv']) {
    t.equal(await refusalOf(name, '\ufeffa mark is fine'), null);
    t.match(await refusalOf(name, 'a\0b'), /NUL/);
    t.match(await refusalOf(name, Buffer.from('caf\xe9', 'latin1')), /UTF-8/);
    t.match(await refusalOf(name, Buffer.from('\ufeffa', 'utf16le')), /NUL|UTF-8/);
    t.match(await refusalOf(name, Buffer.from('€').subarray(0, 2)), /UTF-8/, 'cut off');
    t.match(await refusalOf(name, Buffer.concat([buildText(5000), Buffer.from([0xff])])), /UTF-8/);
    t.match(await refusalOf(name, Buffer.concat([buildText(5000), Buffer.from([0])])), /NUL/);
  }
});

t.test('A JSON file has to parse', async (t) => {
  for (const text of ['{"a": 1', '{a: 1}', "['a']", 'hello', '{"a": 1} {"b": 2}', '[1,]', '   ']) {
    t.match(await refusalOf('a.json', text), /JSON/, text);
    t.match(await refusalOf('a.json', text, 1), /JSON/, text);
  }
  t.equal(await refusalOf('a.json', '\ufeff{"a": 1}', 1), null, 'behind a byte order mark');
  t.match(await refusalOf('a.json', '['.repeat(MIB)), /512 levels/);
  t.match(await refusalOf('a.json', '"a\0"'), /NUL/);
});

t.test('An image has a readable size of at most 50 megapixels', async (t) => {
  for (const [extension, make] of Object.entries(images)) {
    const name = `a.${extension}`;
    t.equal(await refusalOf(name, make(10_000, 5000)), null, `${name} of 50 megapixels`);
    t.match(await refusalOf(name, make(10_001, 5000)), /megapixels/, name);
    t.match(await refusalOf(name, make().subarray(0, 8)), /\w/, `${name} that is cut off`);
    if (extension !== 'webp') t.match(await refusalOf(name, make(0, 480)), /size/, `${name} without a width`);
  }
  t.match(await refusalOf('a.png', images.png(65_535, 65_535)), /megapixels/);
});

t.test('The size of all three WebP formats is read', async (t) => {
  const lossy = Buffer.alloc(40);
  lossy.write('RIFF\0\0\0\0WEBPVP8 \x18\0\0\0', 'latin1');
  lossy.writeUIntBE(0x9d012a, 23, 3);
  lossy.writeUInt16LE(640, 26);
  lossy.writeUInt16LE(480, 28);
  t.equal(await refusalOf('a.webp', lossy), null);
  lossy.writeUInt16LE(16_383, 26);
  lossy.writeUInt16LE(16_383, 28);
  t.match(await refusalOf('a.webp', lossy), /megapixels/);
  const lossless = Buffer.alloc(40);
  lossless.write('RIFF\0\0\0\0WEBPVP8L\x10\0\0\0/', 'latin1');
  lossless.writeUInt32LE(639 | (479 << 14), 21);
  t.equal(await refusalOf('a.webp', lossless), null);
  lossless.writeUInt32LE(16_383 | (16_383 << 14), 21);
  t.match(await refusalOf('a.webp', lossless), /megapixels/);
  lossless.write('VP8?', 12, 'latin1');
  t.match(await refusalOf('a.webp', lossless), /header/);
});

t.test('The size of a JPEG may follow megabytes of segments, and must not be missing', async (t) => {
  for (const piece of [1000, 4100, 65_536])
    t.equal(await refusalOf('a.jpg', images.jpeg(640, 480, 3 * MIB), piece), null);
  t.match(await refusalOf('a.jpg', images.jpeg(9000, 9000, 3 * MIB)), /megapixels/);
  for (const hex of [
    'ffd8ffd9',
    'ffd8ffe000',
    'ffd8ffe00000ffc0',
    'ffd8ffda000c',
    'ffd8ff',
    'ffd8ffe00010',
    'ffd8ffe000040000aabb',
  ]) {
    t.match(await refusalOf('a.jpg', Buffer.from(hex, 'hex')), /header/, hex);
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

t.test('A PNG with a colour profile longer than the signature bytes is a PNG', async (t) => {
  const png = images.png();
  const length = 100_000;
  const profile = Buffer.alloc(length + 12);
  profile.writeUInt32BE(length, 0);
  profile.write('iCCP', 4, 'latin1');
  t.equal(await refusalOf('a.png', Buffer.concat([png.subarray(0, 33), profile, png.subarray(33)])), null);
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

t.test('A PDF begins at its first byte and has an end', async (t) => {
  t.match(await refusalOf('a.pdf', PDF.subarray(0, -7)), /whole PDF/);
  t.match(await refusalOf('a.pdf', Buffer.concat([Buffer.from('\n'), PDF])), /\w/);
  t.match(await refusalOf('a.pdf', Buffer.concat([Buffer.from('\ufeff'), PDF])), /\w/);
  t.equal(await refusalOf('a.pdf', Buffer.concat([PDF, Buffer.alloc(1000)])), null, 'some programs append');
  t.match(await refusalOf('a.pdf', Buffer.concat([PDF, Buffer.alloc(1100)])), /whole PDF/);
  t.equal(
    await refusalOf('a.pdf', Buffer.concat([PDF.subarray(0, -7), Buffer.alloc(3 * MIB), PDF.subarray(-7)]), 999),
    null,
  );
});

t.test('10 MiB are accepted, one byte more and an empty file are not', async (t) => {
  t.equal(await refusalOf('a.txt', buildText(MAX_FILE_BYTES)), null);
  t.match(await refusalOf('a.txt', buildText(MAX_FILE_BYTES + 1)), /at most 10485760 bytes/);
  for (const name of Object.keys(GOOD)) t.equal(await refusalOf(name, ''), 'must not be empty', name);
});

t.test('Extension and declared type have to agree', async (t) => {
  const refused = (name: string, declared: string) =>
    t.throws(() => getFileFormat(name, declared), AppError, `${name} ${declared}`);
  const is = (name: string, declared: string, type: string) =>
    t.equal(getFileFormat(name, declared).mime, type, `${name} ${declared}`);
  is('a.CSV', 'application/vnd.ms-excel', 'text/csv');
  is('a.csv', 'text/csv', 'text/csv');
  is('photo.holiday.JPeG', 'image/jpeg', 'image/jpeg');
  is('a.md', 'text/plain', 'text/markdown');
  is('a.json', 'application/octet-stream', 'application/json');
  is('a.png', 'text/plain', 'image/png');
  is('a.png', 'IMAGE/PNG', 'image/png');
  for (const name of ['a', 'a.', 'a.html', 'a.svg', 'a.xml', 'a.txt.exe', 'txt', 'a.pdf ', 'a.jpgx', 'a.docx'])
    refused(name, 'text/plain');
  refused('a.pdf', 'image/png');
  refused('a.txt', 'text/html');
  refused('a.csv', 'text/markdown');
  refused('a.png', 'image/svg+xml');
  refused('a.json', 'nonsense');
});
