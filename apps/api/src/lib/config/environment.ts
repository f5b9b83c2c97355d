import { readFileSync } from 'node:fs';
import type { Parser } from './parsers.ts';
import { SECRETS, VARIABLES } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that cannot be used; the message is the one line that stops the start. */
export class ConfigError extends Error {}

export type VariableName = keyof typeof VARIABLES;
type Parsed<N extends VariableName> = Exclude<ReturnType<(typeof VARIABLES)[N]['parser']['parse']>, undefined>;
type Value<N extends VariableName> = (typeof VARIABLES)[N]['default'] extends string ? Parsed<N> : Parsed<N> | null;

/**
 * Reads `NAME`, or else the file that `NAME_FILE` names, or else the default; null without one. Empty counts as unset,
 * unless the parser allows it. Throws a `ConfigError`.
 */
export function readVariable<N extends VariableName>(env: Environment, name: N): Value<N> {
  const variable: { parser: Parser<unknown>; default: string | null } = VARIABLES[name];
  const file = env[`${name}_FILE`];
  let raw = env[name] ?? null;
  if (raw === '' && !variable.parser.allowsEmpty) raw = null;
  if (raw === null && file) {
    try {
      raw = readFileSync(file, 'utf8').trim();
    } catch {
      throw new ConfigError(`${name}_FILE names ${file}, which cannot be read.`);
    }
  }
  raw ??= variable.default;
  if (raw === null) return null as Value<N>;
  const value = variable.parser.parse(raw);
  if (value === undefined) {
    const shown = (SECRETS as readonly string[]).includes(name) ? 'a value' : JSON.stringify(redactPassword(raw));
    throw new ConfigError(`${name} is ${shown}, but takes ${variable.parser.expects}.`);
  }
  return value as Value<N>;
}

/** URLs of databases and mail servers contain one. */
const redactPassword = (text: string) => text.replace(/:(\/\/)?.*@/s, ':$1…@');
