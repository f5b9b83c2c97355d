import { randomBytes } from 'node:crypto';

/** Secrets that are planted wherever one can come in, each recognised again wherever it comes out. */
export interface PlantedSecrets {
  /** A new secret, strong enough for a password; `what` says in failures what it was. */
  plant(what: string): string;
  /** Counts something that was made elsewhere among them, such as a token. */
  add(what: string, secret: string): string;
  readonly count: number;
  /** What of them stands in `text`, as it is or in base64. */
  findIn(text: string): string[];
}

export function createPlantedSecrets(): PlantedSecrets {
  const planted = new Map<string, string>();
  const add = (what: string, secret: string) => {
    planted.set(secret, what);
    return secret;
  };
  return {
    add,
    plant: (what) => add(what, `Pl4nt${randomBytes(15).toString('hex')}`),
    get count() {
      return planted.size;
    },
    findIn(text) {
      const decoded = [...text.matchAll(/[A-Za-z0-9+/_-]{40,}={0,2}/g)].map(([match]) =>
        Buffer.from(match, 'base64').toString('latin1'),
      );
      const all = [text, ...decoded].join('\n');
      return [...planted].filter(([secret]) => all.includes(secret)).map(([, what]) => what);
    },
  };
}
