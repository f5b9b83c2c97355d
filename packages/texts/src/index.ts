import { en } from './en/index.ts';
import type { Language } from './language.ts';
import { ptBR } from './pt-BR/index.ts';

export { API_MESSAGES, translateApiMessage } from './api-message.ts';
export { describeFallback } from './describe-fallback.ts';
export type { ResultOutcome } from './en/messages.ts';
export type { Clock, Formats } from './formats.ts';
export { LANGUAGE_NAMES, LANGUAGES, type Language, negotiateLanguage } from './language.ts';
export type { Marks, Parts } from './parts.ts';

/** All texts of a language, by area. */
export type Texts = typeof en & { language: Language };

const CATALOGS: Record<Language, Texts> = {
  en: { ...en, language: 'en' },
  'pt-BR': { ...ptBR, language: 'pt-BR' },
};

export const getTexts = (language: Language): Texts => CATALOGS[language];

/** Whom a text is for. */
export interface Reader {
  language: Language;
  /** Null for UTC. */
  timezone: string | null;
}

/** Such as `20 November 2026 at 11:00`: a date that stays true in a text that is kept. */
export const describeMoment = (at: Date | string, { language, timezone }: Reader): string =>
  getTexts(language).formats.fullMoment(new Date(at), timezone ?? 'UTC');
