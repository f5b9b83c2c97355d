import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';

const TABLES = [
  'users',
  'tasks',
  'executions',
  'endpoints',
  'deliveries',
  'delivery_attempts',
  'uploads',
  'alerts',
  'notifications',
  'audit_log',
  'providers',
  'api_keys',
  'sessions',
];

/** All that is stored as one text, which contains whatever people and models wrote. */
export async function readStoredTexts({ db }: Pick<Context, 'db'>): Promise<string> {
  const texts = await Promise.all(
    TABLES.map(async (table) => {
      const values = sql`jsonb_each_text(to_jsonb(r)) v`;
      const [row] = await queryRows<{ text: string | null }>(
        db,
        sql`select string_agg(v.value, ' ') as text from ${sql.identifier(table)} r, ${values}`,
      );
      return row?.text ?? '';
    }),
  );
  return texts.join(' ');
}
