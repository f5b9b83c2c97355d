export const LANGUAGES = ['en', 'pt-BR'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Languages by their own names. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', 'pt-BR': 'Português (Brasil)' };

/** The best language for an `Accept-Language` header: any Portuguese is `pt-BR`, anything else `en`. */
export function negotiateLanguage(header = ''): Language {
  const [best] = header
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { primary: tag.split('-')[0], weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ primary, weight }) => (primary === 'en' || primary === 'pt') && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return best?.primary === 'pt' ? 'pt-BR' : 'en';
}
