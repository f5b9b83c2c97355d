import { matchPattern } from './assertions.ts';
import { Evaluated, type Place, quote, type Run } from './run.ts';
import { type Check, evaluate, isObject, type Keywords, type SchemaNode } from './schema-node.ts';

const STEPS_PER_PROPERTY = 20;

type Compile = (keywords: Keywords) => Check;

/** The keywords that apply schemas to the value itself. */
export const IN_PLACE: Record<string, Compile> = {
  allOf({ readSchemas }) {
    const nodes = readSchemas('allOf');
    return (value, place, run, evaluated) => {
      let isMatch = true;
      for (const node of nodes) {
        if (evaluate(node, value, place, run, evaluated)) continue;
        isMatch = false;
        if (run.isSilent) break;
      }
      return isMatch;
    };
  },
  anyOf({ readSchemas }) {
    const nodes = readSchemas('anyOf');
    return (value, place, run, evaluated) => {
      let matches = 0;
      for (const node of nodes) {
        if (tryNode(node, value, place, run, evaluated)) matches++;
        // The others matter for what is evaluated only.
        if (matches > 0 && evaluated === null) break;
      }
      return matches > 0 || run.fail(place, 'matches none of the schemas in anyOf');
    };
  },
  oneOf({ readSchemas }) {
    const nodes = readSchemas('oneOf');
    return (value, place, run, evaluated) => {
      let matches = 0;
      for (const node of nodes) {
        if (tryNode(node, value, place, run, evaluated)) matches++;
        if (matches > 1) break;
      }
      if (matches === 1) return true;
      return run.fail(place, `matches ${matches === 0 ? 'none' : 'more than one'} of the schemas in oneOf`);
    };
  },
  not({ readSchema }) {
    const node = readSchema('not');
    return (value, place, run) =>
      !tryNode(node, value, place, run, null) || run.fail(place, 'must not match the schema in not');
  },
  if({ has, readSchema }) {
    const condition = readSchema('if');
    const then = has('then') ? readSchema('then') : null;
    const otherwise = has('else') ? readSchema('else') : null;
    return (value, place, run, evaluated) => {
      const next = tryNode(condition, value, place, run, evaluated) ? then : otherwise;
      return next === null || evaluate(next, value, place, run, evaluated);
    };
  },
  dependentSchemas({ readSchemaMap }) {
    const nodes = readSchemaMap('dependentSchemas');
    return (value, place, run, evaluated) =>
      !isObject(value) ||
      nodes.every(([name, node]) => !Object.hasOwn(value, name) || evaluate(node, value, place, run, evaluated));
  },
};

/** Evaluates a schema whose failure is not a problem by itself. */
function tryNode(node: SchemaNode, value: unknown, place: Place, run: Run, evaluated: Evaluated | null): boolean {
  const own = evaluated && new Evaluated();
  const isMatch = run.silently(() => evaluate(node, value, place, run, own));
  if (isMatch && own) evaluated?.merge(own, run);
  return isMatch;
}

/** The keywords that apply schemas to properties and items. */
export const INSIDE: Record<string, Compile> = {
  propertyNames({ readSchema }) {
    const node = readSchema('propertyNames');
    return (value, place, run) =>
      everyProperty(value, run, (name) => {
        if (run.silently(() => evaluate(node, name, place, run))) return true;
        return run.fail(place, `must not have a property named ${quote(name)}`);
      });
  },
  prefixItems({ readSchemas }) {
    const nodes = readSchemas('prefixItems');
    return (value, place, run, evaluated) => {
      if (!Array.isArray(value)) return true;
      const items = value.slice(0, nodes.length);
      evaluated?.addItemsBefore(items.length);
      return everyItem(items, run, (item, index) => evaluate(nodes[index] as SchemaNode, item, at(place, index), run));
    };
  },
  items({ has, readSchema, schema, refuse }) {
    if (Array.isArray(schema.items)) return refuse('items', 'must be a schema; a list of schemas is prefixItems');
    const node = readSchema('items');
    const start = has('prefixItems') && Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
    return (value, place, run, evaluated) => {
      if (!Array.isArray(value)) return true;
      evaluated?.addItemsBefore(value.length);
      return everyItem(value, run, (item, index) => index < start || evaluate(node, item, at(place, index), run));
    };
  },
  contains: compileContains,
};

/** `properties`, `patternProperties` and `additionalProperties` depend on each other. */
export function compileProperties({ has, readSchema, readSchemaMap, readPatternMap }: Keywords): Check {
  const entries = has('properties') ? readSchemaMap('properties') : [];
  const named = new Map(entries.map(([name, node]) => [name, [node]]));
  const patterns = has('patternProperties') ? readPatternMap('patternProperties') : [];
  const additional = has('additionalProperties') ? [readSchema('additionalProperties')] : [];
  const findNodes = (name: string, run: Run): readonly SchemaNode[] => {
    const own = named.get(name);
    if (patterns.length === 0) return own ?? additional;
    const matching = patterns.filter(([pattern]) => matchPattern(pattern, name, run)).map(([, node]) => node);
    return own || matching.length > 0 ? [...(own ?? []), ...matching] : additional;
  };
  return (value, place, run, evaluated) => {
    if (!isObject(value)) return true;
    let isMatch = true;
    for (const name of Object.keys(value)) {
      run.spend(STEPS_PER_PROPERTY);
      for (const node of findNodes(name, run)) {
        evaluated?.addProperty(name);
        if (evaluate(node, value[name], at(place, name), run)) continue;
        isMatch = false;
        if (run.isSilent) return false;
      }
    }
    return isMatch;
  };
}

/** The keywords that apply to what no other keyword has evaluated. */
export const UNEVALUATED: Record<string, Compile> = {
  unevaluatedItems({ readSchema }) {
    const node = readSchema('unevaluatedItems');
    return (value, place, run, evaluated) => {
      if (!Array.isArray(value)) return true;
      const isMatch = everyItem(
        value,
        run,
        (item, index) => evaluated?.hasItem(index) || evaluate(node, item, at(place, index), run),
      );
      evaluated?.addItemsBefore(value.length);
      return isMatch;
    };
  },
  unevaluatedProperties({ readSchema }) {
    const node = readSchema('unevaluatedProperties');
    return (value, place, run, evaluated) => {
      const isMatch = everyProperty(
        value,
        run,
        (name, field) => evaluated?.hasProperty(name) || evaluate(node, field, at(place, name), run),
      );
      evaluated?.addAllProperties();
      return isMatch;
    };
  },
};

function compileContains({ has, readCount, readSchema }: Keywords): Check {
  const node = readSchema('contains');
  const min = has('minContains') ? readCount('minContains') : 1;
  const max = has('maxContains') ? readCount('maxContains') : Number.POSITIVE_INFINITY;
  return (value, place, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let found = 0;
    for (const [index, item] of value.entries()) {
      if (!run.silently(() => evaluate(node, item, at(place, index), run))) continue;
      found++;
      evaluated?.addItem(index);
    }
    if (found < min) return run.fail(place, `must have at least ${min} items that match the schema in contains`);
    return found <= max || run.fail(place, `must have at most ${max} items that match the schema in contains`);
  };
}

const at = (parent: Place, key: string | number): Place => ({ parent, key });

function everyItem(items: readonly unknown[], run: Run, accepts: (item: unknown, index: number) => boolean): boolean {
  run.spend(2 * items.length);
  let isMatch = true;
  for (const [index, item] of items.entries()) {
    if (accepts(item, index)) continue;
    isMatch = false;
    if (run.isSilent) break;
  }
  return isMatch;
}

function everyProperty(value: unknown, run: Run, accepts: (name: string, field: unknown) => boolean): boolean {
  if (!isObject(value)) return true;
  const names = Object.keys(value);
  run.spend(2 * STEPS_PER_PROPERTY * names.length);
  let isMatch = true;
  for (const name of names) {
    if (accepts(name, value[name])) continue;
    isMatch = false;
    if (run.isSilent) break;
  }
  return isMatch;
}
