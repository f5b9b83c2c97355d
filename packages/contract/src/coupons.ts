import { type Static, Type } from '@sinclair/typebox';
import { success } from './envelopes.ts';
import { ADMIN, describedErrors, errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import {
  Id,
  IdParams,
  Instant,
  InstantInput,
  MAX_ID,
  nullable,
  Offset,
  pageLimit,
  strictObject,
  stringEnum,
  withDefault,
} from './primitives.ts';

/** Specification "Coupon", "Coupons (user)", "Admin"; decisions §9. */

const Code = Type.String({ description: 'Matched in any letter case' });
const Kind = Type.String({ description: '`TRIAL_EXTENSION`' });
const Value = Type.Integer({ description: 'Days by which the trial is extended' });

const FIELDS = {
  id: Id,
  code: Code,
  type: Kind,
  value: Value,
  isActive: Type.Boolean(),
  maxUses: nullable(Type.Integer({ description: 'Null: no limit' })),
  usedCount: Type.Integer(),
  expiresAt: nullable(Instant),
  createdByEmail: Type.String(),
  createdAt: Instant,
};

export const Coupon = Type.Object({ ...FIELDS, updatedAt: Instant });
export type Coupon = Static<typeof Coupon>;

const common = { tags: ['coupons'], security: SIGNED_IN };

export const ActivateCouponInput = strictObject({ code: Type.String({ minLength: 1, maxLength: 100 }) });
export type ActivateCouponInput = Static<typeof ActivateCouponInput>;

export const activateCoupon = {
  ...common,
  operationId: 'activateCoupon',
  summary: 'Extend the trial by a coupon',
  description:
    'Its days are added to the later of now and the end of the trial. Each coupon counts once for an account.',
  body: ActivateCouponInput,
  response: {
    200: Type.Object({
      success,
      message: Type.String(),
      coupon: Type.Object({ code: Code, type: Kind, value: Value, appliedAt: Instant }),
      user: Type.Object({ trialEndsAt: Instant }),
    }),
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      400: 'It has expired, was used by the caller before, or has no uses left',
      404: 'There is none, or it is inactive',
    }),
  },
} satisfies Operation;

const adminOperation = { tags: ['admin'], security: ADMIN };

export const ListCouponsQuery = Type.Object({ limit: pageLimit(50), offset: Offset });
export type ListCouponsQuery = Static<typeof ListCouponsQuery>;

export const listCoupons = {
  ...adminOperation,
  operationId: 'listCoupons',
  summary: 'All coupons, newest first',
  description: 'With the figures of all coupons together. Pages by `limit` and `offset`.',
  querystring: ListCouponsQuery,
  response: {
    200: Type.Object({
      success,
      data: Type.Object({
        coupons: Type.Array(Coupon),
        stats: Type.Object({
          totalCoupons: Type.Integer(),
          activeCoupons: Type.Integer({ description: 'Those with `isActive`, also where they have expired' }),
          totalUses: Type.Integer(),
        }),
        pagination: Type.Object({ limit: Type.Integer(), offset: Type.Integer(), total: Type.Integer() }),
      }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

const MaxUses = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'null: no limit' })));
const ExpiresAt = Type.Optional(nullable(InstantInput));

export const CreateCouponInput = strictObject({
  code: Type.Optional(
    Type.String({
      minLength: 4,
      maxLength: 40,
      pattern: '^[\\w-]+$',
      description: 'Kept in upper case; one that nobody guesses unless said',
    }),
  ),
  maxUses: MaxUses,
  expiresAt: ExpiresAt,
  type: Type.Optional(stringEnum(['TRIAL_EXTENSION'])),
  value: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'Days; the `trialDurationDays` of the settings unless said',
    }),
  ),
});
export type CreateCouponInput = Static<typeof CreateCouponInput>;

export const createCoupon = {
  ...adminOperation,
  operationId: 'createCoupon',
  summary: 'Make a coupon with a code of its own',
  description: 'Its holder gets `value` days of trial. The code is one that nobody guesses, unless it is chosen.',
  body: CreateCouponInput,
  response: {
    201: Type.Object({ success, data: Type.Object(FIELDS), message: Type.String() }),
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 409: 'Another coupon has this code, in whatever letter case' }),
  },
} satisfies Operation;

const CouponResponse = Type.Object({ success, coupon: Coupon });

export const getCoupon = {
  ...adminOperation,
  operationId: 'getCoupon',
  summary: 'One coupon',
  description: 'With how often it was used.',
  params: IdParams,
  response: { 200: CouponResponse, ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const ChangeCouponInput = strictObject({
  isActive: Type.Optional(Type.Boolean()),
  maxUses: MaxUses,
  expiresAt: ExpiresAt,
});
export type ChangeCouponInput = Static<typeof ChangeCouponInput>;

export const changeCoupon = {
  ...adminOperation,
  operationId: 'changeCoupon',
  summary: 'Switch a coupon on or off, or change its limits',
  description: 'A `maxUses` below what was used already, and an `expiresAt` in the past, end it.',
  params: IdParams,
  body: ChangeCouponInput,
  response: { 200: CouponResponse, ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const deleteCoupon = {
  ...adminOperation,
  operationId: 'deleteCoupon',
  summary: 'Delete a coupon; what it has extended stays extended',
  description: 'Nobody can use it any more. Trials that it has extended stay so.',
  params: IdParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const ListCouponUsesQuery = Type.Object({
  limit: withDefault(Type.Integer({ minimum: 1, maximum: 1000 }), 1000),
  offset: Offset,
});
export type ListCouponUsesQuery = Static<typeof ListCouponUsesQuery>;

export const listCouponUses = {
  ...adminOperation,
  operationId: 'listCouponUses',
  summary: 'Who has used a coupon, newest first',
  description: 'Pages by `limit` and `offset`.',
  params: IdParams,
  querystring: ListCouponUsesQuery,
  response: {
    200: Type.Object({
      success,
      usage: Type.Array(
        Type.Object({ userId: Id, userEmail: Type.String(), userName: Type.String(), usedAt: Instant }),
        { description: 'Accounts that were deleted since are left out' },
      ),
      summary: Type.Object({
        totalUses: Type.Integer(),
        maxUses: nullable(Type.Integer()),
        remainingUses: nullable(Type.Integer({ description: 'Null: no limit' })),
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
