/** A third-party tool that can say who owns a credential. */
export interface Tool<T> {
  name: string;
  credential: string;
  path: string;
  buildHeaders(credential: string): Record<string, string>;
  /** Reads the body of a 200 response; returns null if it is not the tool's own answer. */
  readOwner(body: unknown): T | null;
  /** Why it refused the credential, for the user. */
  explainRefusal(body: unknown): string;
}
