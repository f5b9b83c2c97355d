/** A text with something inside that is not text, such as a link: templates of pages take it as it is. */
export type Parts<P> = readonly (string | P)[];

/** Builds such a text: parts`Have an account? ${link('Sign in')}`. */
export const parts = <P>(strings: TemplateStringsArray, ...values: readonly P[]): Parts<P> =>
  strings.flatMap((text, at) => (at < values.length ? [text, values[at] as P] : [text]));
