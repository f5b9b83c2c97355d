import { promises as dns } from 'node:dns';

export type Lookup = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY = { timeout: 500, tries: 3 };
/** `ECONNREFUSED`: there is no name server. */
const UNKNOWN = ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'];

/** Uses `dns.lookup`, which blocks one of few threads, only for the hosts file and one name at a time. */
export function createLookup(options: { useHostsFile: boolean; servers?: readonly string[] }): Lookup {
  let previous: Promise<unknown> = Promise.resolve();
  return async (name, signal) => {
    const { addresses, unknown } = await queryNameServers(name, signal, options.servers);
    if (addresses.length > 0 || !options.useHostsFile || !unknown) return addresses;
    const lookup = previous.then(() => (signal.aborted ? [] : dns.lookup(name, { all: true, order: 'verbatim' })));
    previous = lookup.catch(() => {});
    return (await lookup).map(({ address }) => address);
  };
}

async function queryNameServers(name: string, signal: AbortSignal, servers?: readonly string[]) {
  // A resolver for each query can be cancelled, and reads the machine's current name servers.
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
