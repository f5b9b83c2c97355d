import { promises as dns } from 'node:dns';

/** Every address of a name, or rejects. `signal` says that nobody waits any more. */
export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY = { timeout: 500, tries: 3 };
/** Of the name servers' answers: they know no such name, or there is no name server. */
const UNKNOWN = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/**
 * Asks the name servers. Not `dns.lookup`, as that keeps one of a few threads for as long as a name server is silent:
 * a handful of such names, and nobody's names would be found. `knowsHosts` asks the operating system too where the
 * name servers know nothing, for names from its hosts file or search list; one at a time, for the same reason. The
 * name servers are the machine's unless told.
 */
export function createLookup({ knowsHosts, servers }: { knowsHosts: boolean; servers?: readonly string[] }): Lookup {
  let turn: Promise<unknown> = Promise.resolve();
  return async (name, signal) => {
    const asked = await askNameServers(name, signal, servers);
    if (asked.addresses.length > 0 || !knowsHosts || !asked.unknown) return asked.addresses;
    const mine = turn.then(() => (signal.aborted ? [] : dns.lookup(name, { all: true, order: 'verbatim' })));
    turn = mine.catch(() => {});
    return (await mine).map(({ address }) => address);
  };
}

async function askNameServers(name: string, signal: AbortSignal, servers?: readonly string[]) {
  // Of its own, so that it can be cancelled, and knows when the machine's name servers change.
  const resolver = new dns.Resolver(QUERY);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal.removeEventListener('abort', cancel);
  return {
    addresses: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
    unknown: answers.every((answer) => answer.status === 'rejected' && UNKNOWN.includes(answer.reason.code)),
  };
}
