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
