/** Pixels. */
export interface Size {
  width: number;
  height: number;
}

/** Reads the size of an image from its bytes as they come: what `take` returns is null until it is known. */
export interface SizeReader {
  /** Throws a RangeError where the header is none. The first bytes have to come at once. */
  take(bytes: Buffer): Size | null;
}

/** Bytes that hold the header of everything but JPEG. */
const HEADER = 30;

/** The reader for images of a type that its signature has shown already. */
export function sizeReaderOf(type: string): SizeReader {
  if (type === 'image/jpeg') return readJpegSize();
  const read = { 'image/png': readPng, 'image/gif': readGif }[type] ?? readWebp;
  return { take: (bytes) => read(bytes.subarray(0, HEADER)) };
}

function readPng(header: Buffer): Size {
  assert(header.toString('latin1', 12, 16) === 'IHDR');
  return { width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
}

function readGif(header: Buffer): Size {
  assert(/^GIF8[79]a/.test(header.toString('latin1', 0, 6)));
  return { width: header.readUInt16LE(6), height: header.readUInt16LE(8) };
}

function readWebp(header: Buffer): Size {
  switch (header.toString('latin1', 12, 16)) {
    case 'VP8 ':
      assert(header.readUIntBE(23, 3) === 0x9d012a);
      return { width: header.readUInt16LE(26) & 0x3fff, height: header.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      assert(header.readUInt8(20) === 0x2f);
      const bits = header.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: header.readUIntLE(24, 3) + 1, height: header.readUIntLE(27, 3) + 1 };
    default:
      throw new RangeError('no WebP');
  }
}

/** Of a frame: length, precision, height, width. */
const FRAME = 7;
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** What stands between segments without a length. */
const isAlone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/**
 * A JPEG says its size in the frame header, behind any number of segments: a colour profile, a thumbnail, a depth map
 * of megabytes. They are passed over as they come, so that no library has to be given all of them at once.
 */
function readJpegSize(): SizeReader {
  let kept: Buffer = Buffer.alloc(0);
  let skip = 0;
  return {
    take(bytes) {
      let rest = Buffer.concat([kept, bytes]);
      for (;;) {
        if (skip >= rest.length) {
          skip -= rest.length;
          kept = Buffer.alloc(0);
          return null;
        }
        rest = rest.subarray(skip);
        skip = 0;
        assert(rest[0] === 0xff);
        const marker = rest[1];
        if (marker === 0xff) skip = 1;
        else if (marker !== undefined && isAlone(marker)) skip = 2;
        else if (marker === undefined || rest.length < 2 + FRAME) {
          kept = Buffer.from(rest);
          return null;
        } else if (isFrame(marker)) return { height: rest.readUInt16BE(5), width: rest.readUInt16BE(7) };
        else {
          const length = rest.readUInt16BE(2);
          // Pixels or the end, before any frame: there is no image.
          assert(marker >= 0xc0 && marker !== 0xd9 && marker !== 0xda && length >= 2);
          skip = 2 + length;
        }
      }
    },
  };
}

function assert(holds: boolean): void {
  if (!holds) throw new RangeError('no header of an image');
}
