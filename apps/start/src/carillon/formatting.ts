const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const step = bytes > 0 ? Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), UNITS.length - 1) : 0;
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}

/** Joins the lines of each paragraph, so that the terminal wraps them. */
export const joinParagraphLines = (text: string): string => text.replaceAll(/(?<!\n)\n(?!\n)/g, ' ');
