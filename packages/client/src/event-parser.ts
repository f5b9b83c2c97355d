import { InvalidResponseError } from './errors.ts';

/** In characters. Longer than any event of Carillon. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

export interface ServerSentEvent {
  event: string;
  data: string;
  id: string;
}

/** Parses a stream of server-sent events in pieces of any size (https://html.spec.whatwg.org/#event-stream-interpretation). */
export class EventParser {
  /** Of the last complete block, also of one without data. */
  lastId = '';
  /** The id of the first block, if that is not an event: where the stream begins. */
  startId: string | null = null;
  retryMs: number | null = null;
  readonly #decoder = new TextDecoder();
  #line = '';
  #endedWithReturn = false;
  #event = '';
  #data: string[] = [];
  #length = 0;
  #id: string | null = null;
  #isFirstId = true;

  push(piece: Uint8Array): ServerSentEvent[] {
    let text = this.#decoder.decode(piece, { stream: true });
    if (text === '') return [];
    if (this.#endedWithReturn && text.startsWith('\n')) text = text.slice(1);
    this.#endedWithReturn = text.endsWith('\r');
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = this.#line + lines[0];
    this.#line = lines.pop() ?? '';
    if (this.#length + this.#line.length > MAX_EVENT_LENGTH) throw new InvalidResponseError('An event is too long.');
    return lines.map((line) => this.#readLine(line)).filter((event) => event !== null);
  }

  #readLine(line: string): ServerSentEvent | null {
    if (line === '') return this.#endBlock();
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'event') this.#event = value;
    if (field === 'id' && !value.includes('\0')) this.#id = value;
    if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    if (field === 'data') {
      this.#data.push(value);
      this.#length += value.length;
    }
    return null;
  }

  #endBlock(): ServerSentEvent | null {
    const isEmpty = this.#data.length === 0;
    if (isEmpty && this.#isFirstId) this.startId = this.#id;
    if (this.#id !== null || !isEmpty) this.#isFirstId = false;
    this.lastId = this.#id ?? this.lastId;
    const event = { event: this.#event || 'message', data: this.#data.join('\n'), id: this.lastId };
    this.#event = '';
    this.#data = [];
    this.#length = 0;
    return isEmpty ? null : event;
  }
}
