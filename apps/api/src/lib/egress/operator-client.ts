import { Agent } from 'undici';
import { type ExchangeRequest, type ExchangeResult, exchange } from './exchange.ts';

/** The egress policy does not apply, because the operator configures the addresses. */
export interface OperatorClient {
  request(request: ExchangeRequest & { origin: string }): Promise<ExchangeResult>;
  readonly closed: boolean;
  close(): Promise<void>;
}

/** `connections` are per origin; default: unlimited. */
export function createOperatorClient(options: { connectMs: number; connections?: number }): OperatorClient {
  const agent = new Agent({
    connections: options.connections ?? null,
    // A slow or reset HTTP/2 connection affects a hundred requests.
    allowH2: false,
    connect: { timeout: options.connectMs },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const closing = new AbortController();
  return {
    request: (request) => exchange(agent, { ...request, signals: [...(request.signals ?? []), closing.signal] }),
    get closed() {
      return closing.signal.aborted;
    },
    close() {
      closing.abort();
      return agent.destroy();
    },
  };
}
