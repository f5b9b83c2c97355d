import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Operation } from '@carillon/contract';

const CONTRACT = new URL('../../../../../packages/contract/src/', import.meta.url);

/** All operations of the contract by id. */
export async function listOperations(): Promise<ReadonlyMap<string, Operation>> {
  const operations = new Map<string, Operation>();
  for (const file of globSync('**/*.ts', { cwd: fileURLToPath(CONTRACT) })) {
    const module: Record<string, unknown> = await import(new URL(file, CONTRACT).href);
    for (const [name, value] of Object.entries(module)) {
      if (!isOperation(value)) continue;
      if (name !== value.operationId) throw new Error(`${file}: ${name} has the operationId ${value.operationId}.`);
      const known = operations.get(name);
      if (known !== undefined && known !== value) throw new Error(`${file}: the operation ${name} exists twice.`);
      operations.set(name, value);
    }
  }
  return operations;
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'operationId' in value && 'response' in value;
}
