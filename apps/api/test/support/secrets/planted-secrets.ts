import { randomBytes } from 'node:crypto';

/** Secrets that are sent in requests and searched for in outputs. */
export interface PlantedSecrets {
  /** Creates a secret that is valid as a password; `what` describes it in failures. */
  plant(what: string): string;
  /** Adds a secret that was created elsewhere, such as a token. */
  add(what: string, secret: string): string;
  readonly count: number;
  /** Describes the secrets that `text` contains, plain or in base64. */
  findIn(text: string): string[];
}

const PLANTED = /Pl4nt[0-9a-f]{30}/g;

export function createPlantedSecrets(): PlantedSecrets {
  const planted = new Map<string, string>();
  const added = new Map<string, string>();
  const remember = (secrets: Map<string, string>, what: string, secret: string) => {
    secrets.set(secret, what);
    return secret;
  };
  return {
    add: (what, secret) => remember(added, what, secret),
    plant: (what) => remember(planted, what, `Pl4nt${randomBytes(15).toString('hex')}`),
    get count() {
      return planted.size + added.size;
    },
    findIn(text) {
      const decoded = [...text.matchAll(/[A-Za-z0-9+/_-]{40,}={0,2}/g)].map(([match]) =>
        Buffer.from(match, 'base64').toString('latin1'),
      );
      const all = [text, ...decoded].join('\n');
      // Thousands are planted, so searching for each in every answer and line would take most of the test.
      const found = new Set(all.match(PLANTED)?.flatMap((secret) => planted.get(secret) ?? []));
      for (const [secret, what] of added) if (all.includes(secret)) found.add(what);
      return [...found];
    },
  };
}
