import type { Texts } from '@carillon/texts';

/** In the order in which they are told apart: most browsers also name the ones that they derive from. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(HeadlessChrome|Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];

const LANGUAGES: readonly [RegExp, string][] = [
  [/^python-|^Python\//, 'Python'],
  [/^(node|undici)\b/, 'Node.js'],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/\b(iPhone|iPod)\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

const find = (list: readonly [RegExp, string][], text: string) => list.find(([pattern]) => pattern.test(text))?.[1];

const MAX_LENGTH = 60;

/** `Firefox on Linux`. For an unknown one, the start of the text itself. */
export function describeUserAgent(userAgent: string | null, { settings }: Texts): string {
  if (userAgent === null || userAgent.trim() === '') return settings.unknownProgram;
  const browser = find(BROWSERS, userAgent);
  const system = find(SYSTEMS, userAgent);
  if (browser) return system ? settings.browserOn(browser, system) : browser;
  const language = find(LANGUAGES, userAgent);
  if (language) return settings.programIn(language);
  return userAgent.length > MAX_LENGTH ? `${userAgent.slice(0, MAX_LENGTH)}…` : userAgent;
}
