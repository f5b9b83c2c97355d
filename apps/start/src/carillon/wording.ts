const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A number of bytes as a person reads it. */
export function inBytes(bytes: number): string {
  const step = bytes > 0 ? Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), UNITS.length - 1) : 0;
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}

/** A text of the source, whose lines the terminal breaks as it needs; an empty line stays. */
export const inParagraphs = (text: string): string => text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
