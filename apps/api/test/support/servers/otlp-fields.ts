/** The values of a protobuf message by field number. */
export type Fields = Map<number, (bigint | Buffer)[]>;

/** Reads one level of a message; nested messages stay bytes. */
export function readFields(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;

  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('Unexpected end of a number.');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  function take(length: number): Buffer {
    if (at + length > bytes.length) throw new Error('Unexpected end of a field.');
    at += length;
    return bytes.subarray(at - length, at);
  }
  const readers: Record<number, () => bigint | Buffer> = {
    0: varint,
    1: () => take(8),
    2: () => take(Number(varint())),
    5: () => take(4),
  };

  while (at < bytes.length) {
    const tag = varint();
    const read = readers[Number(tag & 7n)];
    if (!read) throw new Error(`Unknown wire type ${tag & 7n}.`);
    const number = Number(tag >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), read()]);
  }
  return fields;
}

export const readMessages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((value) => readFields(value as Buffer));
export const readBytes = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer) ?? Buffer.alloc(0);
export const readText = (fields: Fields, number: number): string => readBytes(fields, number).toString();
export const readNumber = (fields: Fields, number: number): number => Number((fields.get(number)?.[0] as bigint) ?? 0n);
