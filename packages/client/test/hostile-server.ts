import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { Carillon, type ClientOptions } from '../src/index.ts';

export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Handler = (response: ServerResponse, request: Received) => unknown;

export const API_KEY = 'crl_0123456789abcdefghijklmnopqrstuvwxyzAB';

/** Starts a server that answers the n-th request with the n-th handler, and later ones with the last. */
export async function startServer(t: Test, ...handlers: Handler[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const handler = handlers[received.length] ?? handlers.at(-1);
    const one = { method, url, headers, body: '' };
    received.push(one);
    one.body = await text(request).catch(() => '');
    handler?.(response, one);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open = (options: Partial<ClientOptions> = {}) => new Carillon({ baseUrl, apiKey: API_KEY, ...options });
  return { baseUrl, received, open, carillon: open() };
}

export const json =
  (status: number, body: object, headers: Record<string, string> = {}): Handler =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

export const html =
  (status: number): Handler =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');

export const fail = (status: number, headers?: Record<string, string>) =>
  json(status, { success: false, error: `error ${status}` }, headers);

/** Closes the connection without an answer. */
export const reset: Handler = (response) => response.socket?.resetAndDestroy();

/** Announces more than it sends. */
export const cutBody: Handler = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"success":');
  setTimeout(() => response.destroy(), 20);
};

export const hang: Handler = () => {};

export const ok = json(200, { success: true });

/** Rejects unless `promise` rejects with an error of the class, which is returned. */
export async function catchError<E extends Error>(
  promise: PromiseLike<unknown>,
  ErrorClass: abstract new (...parameters: never[]) => E,
): Promise<E> {
  const error = await promise.then(
    () => new Error('It succeeded.'),
    (reason) => reason,
  );
  if (error instanceof ErrorClass) return error;
  throw error;
}
