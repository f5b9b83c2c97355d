import type { IncomingHttpHeaders } from 'node:http';
import { createParser } from 'eventsource-parser';
import type { Fault } from '../egress/provider-error.ts';
import type { Reader } from '../egress/provider-http.ts';
import { fieldsOf } from './json-fields.ts';
import type { Heard, Protocol } from './reply.ts';

/**
 * What reads an answer of this protocol into `heard`. Some services know no streams, and say so only by the type of
 * what they answer.
 */
export function readerOf(protocol: Protocol, headers: IncomingHttpHeaders, heard: Heard, streamed: boolean): Reader {
  // LiteLLM's way to tell what a call costs.
  heard.headerCost = headers['x-litellm-response-cost'];
  const isWhole = !streamed || /^application\/json\b/i.test(headers['content-type'] ?? '');
  return isWhole ? wholeReader(protocol, heard) : streamReader(protocol, heard);
}

function wholeReader(protocol: Protocol, heard: Heard): Reader {
  const chunks: Buffer[] = [];
  return {
    take(bytes) {
      chunks.push(bytes);
      return null;
    },
    end() {
      const [first] = chunks;
      const body = new TextDecoder().decode(chunks.length === 1 ? first : Buffer.concat(chunks));
      const answer = parsed(body);
      if (answer === undefined || !protocol.readWhole(fieldsOf(answer), heard)) return { kind: 'unusable', body };
      heard.endText();
      return null;
    },
  };
}

function streamReader(protocol: Protocol, heard: Heard): Reader {
  const decoder = new TextDecoder();
  let fault: Fault | null = null;
  const parser = createParser({
    onEvent({ data }) {
      if (fault !== null) return;
      if (data === '[DONE]') {
        heard.ending ??= 'whole';
        return;
      }
      const event = parsed(data);
      const fields = fieldsOf(event);
      if (event === undefined) fault = { kind: 'unusable', body: data };
      else if (fields.error || fields.object === 'error') fault = { kind: 'told', event };
      else protocol.readEvent(fields, heard);
    },
  });
  return {
    take(bytes) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      return fault;
    },
    end() {
      if (heard.ending === null) return { kind: 'unusable', body: '' };
      if (heard.ending === 'begun') return { kind: 'broken', reason: 'the answer has no end', sent: true };
      heard.endText();
      return null;
    },
  };
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
