import { getTexts, type Language } from '@carillon/texts';

/** Whom a text is for. */
export interface Reader {
  language: Language;
  /** Null for UTC. */
  timezone: string | null;
}

/** Such as `20 November 2026 at 11:00`: a date that stays true in a text that is kept. */
export const describeMoment = (at: Date | string, { language, timezone }: Reader): string =>
  getTexts(language).formats.fullMoment(new Date(at), timezone ?? 'UTC');
