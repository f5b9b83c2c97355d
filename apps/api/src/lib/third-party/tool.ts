export interface ThirdPartyTool<T> {
  name: string;
  credential: string;
  /** Every credential begins with one of these. */
  prefixes: readonly string[];
  path: string;
  buildHeaders(credential: string): Record<string, string>;
  /** For a 200 response; null if the tool did not send it. */
  readOwner(body: unknown): T | null;
  explainRefusal(body: unknown): string;
}
