import { readFileSync } from 'node:fs';
import type { Parser } from './parsers.ts';
import { ConfigError, SECRETS } from './secrets.ts';
import { VARIABLES } from './variables.ts';

type Name = keyof typeof VARIABLES;
type Parsed<N extends Name> = Exclude<ReturnType<(typeof VARIABLES)[N]['kind']['parse']>, undefined>;
type Value<N extends Name> = (typeof VARIABLES)[N]['default'] extends string ? Parsed<N> : Parsed<N> | null;
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `NAME`, or the file that `NAME_FILE` names; empty counts as unset but where the kind takes it. */
export function readVariable<N extends Name>(env: Environment, name: N): Value<N> {
  const spec: { kind: Parser<unknown>; default: string | null } = VARIABLES[name];
  const file = env[`${name}_FILE`];
  let raw = env[name] ?? null;
  if (raw === '' && !spec.kind.takesNothing) raw = null;
  if (raw === null && file) {
    try {
      raw = readFileSync(file, 'utf8').trim();
    } catch {
      throw new ConfigError(`${name}_FILE names ${file}, which cannot be read.`);
    }
  }
  raw ??= spec.default;
  if (raw === null) return null as Value<N>;
  const value = spec.kind.parse(raw);
  if (value === undefined) {
    const shown = (SECRETS as readonly string[]).includes(name) ? 'a value' : JSON.stringify(withoutPassword(raw));
    throw new ConfigError(`${name} is ${shown}, but takes ${spec.kind.takes}.`);
  }
  return value as Value<N>;
}

/** Addresses of databases and mail servers hold one. */
const withoutPassword = (text: string) => text.replace(/:\/\/.*@/, '://…@');
