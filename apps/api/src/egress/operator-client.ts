import { Agent } from 'undici';
import { type ExchangeRequest, type ExchangeResult, exchange } from './exchange.ts';

/** Requests to addresses that the operator configures. The egress policy does not apply to them. */
export interface OperatorClient {
  request(request: ExchangeRequest & { origin: string }): Promise<ExchangeResult>;
  readonly closed: boolean;
  close(): Promise<void>;
}

/** HTTP/1.1 with keep-alive. `connections`: per origin, default: unlimited. */
export function createOperatorClient(options: { connectMs: number; connections?: number }): OperatorClient {
  const agent = new Agent({
    connections: options.connections ?? null,
    // One slow or reset HTTP/2 connection would carry a hundred requests with it.
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
