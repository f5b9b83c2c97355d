/** Every advisory lock that Carillon takes. Each number stands for one purpose and is never used again for another. */
export const ADVISORY_LOCKS = {
  migrate: 7_011_001,
  createTestTemplate: 7_011_003,
  claimDeliveries: 7_011_004,
  useEmbeddedServer: 7_011_006,
  changePartitions: 7_011_007,
  /** With a second number: the slot, and the turn from 1 to 4 of older versions. */
  slots: 7_011_008,
  claimTurns: 7_011_009,
  /** With a second number: the user whose executions a claim starts. */
  claimedUsers: 7_011_011,
  /** With a second number: the user whose answers are counted. */
  storeAnswers: 7_011_010,
} as const;
