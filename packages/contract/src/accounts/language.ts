import type { Static } from '@sinclair/typebox';
import { stringEnum } from '../primitives.ts';

export const LANGUAGES = ['en', 'pt-BR'] as const;

export const Language = stringEnum(LANGUAGES, {
  description: 'The language of pages, mails, messages of channels, alerts and notifications',
});
export type Language = Static<typeof Language>;
