import { Agent } from 'undici';
import type { Config } from '../config.ts';

/** One request to an address that a user gave. */
export interface HttpPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as it is. */
  body: Buffer | string;
  /** Until the connection stands, its TLS included; 5 s unless told. */
  connectMs?: number;
  /** From then until the answer is read whole; 30 s unless told. Nothing the receiver sends makes it longer. */
  responseMs?: number;
  /** Of the answer's body; what is beyond is not read, and the connection is dropped. 64 KiB unless told. */
  maxBytes?: number;
  /** Ends the request in any phase. */
  signal?: AbortSignal;
}

/**
 * What became of a request. `error` is written for the owner of the address and may be stored and shown: it says what
 * to mend, and is the same for whatever would tell of hosts and ports (null for an answer of 2xx).
 *
 * - `answered`: any status, redirects among them, as they are not followed.
 * - `address`: nothing was sent, as the address may not be reached, or its name has no address.
 * - `connection`: refused, filtered, TLS, reset, not HTTP: all the same.
 * - `timeout`: connected, but there was no answer in time.
 * - `stopped`: by the caller's signal.
 */
export type HttpOutcome =
  | { kind: 'answered'; status: number; error: string | null }
  | { kind: 'address' | 'connection' | 'timeout' | 'stopped'; status: null; error: string };

export interface Http {
  /** Never rejects. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** Why the address may not be used, for the person who gave it; null when it may. Asks no name server. */
  checkAddress(url: string): string | null;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** The one way to addresses that users give (decisions §8). */
export function createHttp(_config: Pick<Config, 'production' | 'baseUrl' | 'appUrl' | 'port' | 'egressAllow'>): Http {
  const agent = new Agent({ allowH2: false });
  return {
    async post({ url, headers, body, signal, connectMs = 5000, responseMs = 30_000 }) {
      try {
        const target = new URL(url);
        const deadline = AbortSignal.timeout(connectMs + responseMs);
        const answer = await agent.request({
          origin: target.origin,
          path: target.pathname + target.search,
          method: 'POST',
          headers,
          body,
          signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        });
        const status = answer.statusCode;
        await answer.body.dump({ limit: 65_536 });
        return {
          kind: 'answered',
          status,
          error: status >= 200 && status < 300 ? null : `The receiver answered ${status}.`,
        };
      } catch {
        return { kind: 'connection', status: null, error: 'No connection could be made.' };
      }
    },
    checkAddress: (url) => (URL.canParse(url) ? null : 'is not an http(s) address'),
    close: () => agent.destroy(),
  };
}
