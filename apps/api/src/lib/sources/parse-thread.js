import { constants, getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { parseDocument } from './parse-document.js';

// A thread of `parser.ts`. Plain JavaScript: to strip types, each thread would load a compiler of 10 MB.

const ROUNDS = 5;

// Only Linux has a priority for each thread; a lower one may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));

/** Lets V8 compile the parsers before the first document, which would pay for it. */
function warmUp() {
  const sentence = '<p>A sentence, long enough to be read, with a <a href="/a">link</a> in it, and one more. </p>';
  const card = '<div class="card"><a href="/b"><img src="c.png"><span>Story</span></a></div>';
  const page = `<!doctype html><title>.</title><nav>${card.repeat(20)}</nav><main><article>${sentence.repeat(25)}</article>${card.repeat(40)}</main>`;
  const item = '<item><title>a</title><link>/a</link><pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate></item>';
  const feed = `<rss version="2.0"><channel><title>.</title>${item.repeat(20)}</channel></rss>`;
  for (let round = 0; round < ROUNDS; round += 1) {
    parseDocument({ bytes: Buffer.from(page), contentType: 'text/html', url: 'http://localhost/' });
    parseDocument({ bytes: Buffer.from(page), contentType: 'text/html', url: 'http://localhost/', select: 'p a' });
    parseDocument({ bytes: Buffer.from(feed), contentType: 'text/xml', url: 'http://localhost/' });
  }
}

warmUp();
parentPort?.on('message', (job) => parentPort?.postMessage(parseDocument(job)));
parentPort?.postMessage('ready');
