import type { Lease } from './leases.ts';

interface Unanswered<Row> {
  row: Row;
  /** By `performance.now()`. Until then the commit may still take effect, for example while it waits for a standby. */
  until: number;
  isChecked: boolean;
}

export interface UnansweredClaims<Row extends Lease> {
  /** How many may be claimed, as no check has shown otherwise. */
  readonly unchecked: number;
  add(rows: readonly Row[]): void;
  /** Removes and returns the rows that turned out to be claimed, with renewed leases. */
  takeClaimed(): Promise<Row[]>;
}

/**
 * Rows of claims whose commit was not answered, because the connection was lost: if it took effect, they would otherwise
 * wait until their leases expire.
 */
export function createUnansweredClaims<Row extends Lease>(
  leaseMs: number,
  renew: (leases: Lease<Row['id']>[]) => Promise<ReadonlySet<Row['id']>>,
): UnansweredClaims<Row> {
  const claims = new Map<Row['id'], Unanswered<Row>>();
  return {
    get unchecked() {
      return [...claims.values()].filter(({ isChecked }) => !isChecked).length;
    },
    add(rows) {
      const until = performance.now() + leaseMs;
      for (const row of rows) claims.set(row.id, { row, until, isChecked: false });
    },
    async takeClaimed() {
      if (claims.size === 0) return [];
      const asked = [...claims.values()];
      const claimedIds = await renew(asked.map(({ row: { id, claimToken } }) => ({ id, claimToken })));
      // Another check may have taken some meanwhile.
      const left = asked.filter((one) => claims.get(one.row.id) === one);
      for (const one of left) {
        one.isChecked = true;
        if (claimedIds.has(one.row.id) || performance.now() > one.until) claims.delete(one.row.id);
      }
      return left.map(({ row }) => row).filter(({ id }) => claimedIds.has(id));
    },
  };
}
