/** A text with something inside that is not text, such as a link: templates of pages take it as it is. */
export type Parts<P> = readonly (string | P)[];

/** Builds such a text: parts`Have an account? ${link('Sign in')}`. */
export const parts = <P>(strings: TemplateStringsArray, ...values: readonly P[]): Parts<P> =>
  strings.flatMap((text, at) => (at < values.length ? [text, values[at] as P] : [text]));

/** Builds the marked parts of a text, which pages know how to show. */
export interface Marks<P> {
  strong(text: string): P;
  code(text: string): P;
  link(text: string): P;
}
