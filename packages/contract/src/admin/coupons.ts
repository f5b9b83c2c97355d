import { type Static, Type } from '@sinclair/typebox';
import { success } from '../envelopes.ts';
import {
  ADMIN,
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from '../operation.ts';
import {
  Id,
  IdParams,
  Instant,
  InstantInput,
  MAX_ID,
  nullable,
  Offset,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
} from '../primitives.ts';

const Code = Type.String({ description: 'The code, case-insensitive' });
const Kind = Type.String({ description: '`TRIAL_EXTENSION`' });
const Value = Type.Integer({ description: 'Days by which the trial is extended' });

const FIELDS = {
  id: Id,
  code: Code,
  type: Kind,
  value: Value,
  isActive: Type.Boolean(),
  maxUses: nullable(Type.Integer({ description: 'Null for no limit' })),
  usedCount: Type.Integer(),
  expiresAt: nullable(Instant),
  createdByEmail: Type.String(),
  createdAt: Instant,
};

export const Coupon = Type.Object({ ...FIELDS, updatedAt: Instant }, { $id: 'Coupon' });
export type Coupon = Static<typeof Coupon>;

const common = { tags: ['coupons'], security: SIGNED_IN };

export const ActivateCouponInput = strictObject({ code: Type.String({ minLength: 1, maxLength: 100 }) });
export type ActivateCouponInput = Static<typeof ActivateCouponInput>;

export const activateCoupon = {
  ...common,
  operationId: 'activateCoupon',
  summary: 'Activate a coupon',
  description:
    'Extends the trial: the days of the coupon are added to the end of the trial, or to now if that has passed. An account can use each coupon once.',
  body: ActivateCouponInput,
  response: {
    200: Type.Object({
      success,
      message: Type.String(),
      coupon: Type.Object({ code: Code, type: Kind, value: Value, appliedAt: Instant }),
      user: Type.Object({ trialEndsAt: Instant }),
    }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({
      400: 'The coupon has expired, was already used by the caller, or has no uses left',
      404: 'The coupon does not exist or is inactive',
    }),
  },
} satisfies Operation;

const adminOperation = { tags: ['admin'], security: ADMIN };

export const ListCouponsQuery = Type.Object({ limit: pageLimit(50), offset: Offset });
export type ListCouponsQuery = Static<typeof ListCouponsQuery>;

export const listCoupons = {
  ...adminOperation,
  operationId: 'listCoupons',
  summary: 'List coupons',
  description: 'Returns all coupons, newest first, with statistics over all of them. Pages by `limit` and `offset`.',
  querystring: ListCouponsQuery,
  response: {
    200: Type.Object({
      success,
      data: Type.Object({
        coupons: Type.Array(ref(Coupon)),
        stats: Type.Object({
          totalCoupons: Type.Integer(),
          activeCoupons: Type.Integer({ description: 'Coupons with `isActive`, including expired ones' }),
          totalUses: Type.Integer(),
        }),
        pagination: Type.Object({ limit: Type.Integer(), offset: Type.Integer(), total: Type.Integer() }),
      }),
    }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

const MaxUses = Type.Optional(
  nullable(Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'Null for no limit' })),
);
const ExpiresAt = Type.Optional(nullable(InstantInput));

export const CreateCouponInput = strictObject({
  code: Type.Optional(
    Type.String({
      minLength: 4,
      maxLength: 40,
      pattern: '^[\\w-]+$',
      description: 'Stored in upper case. Default: a random code',
    }),
  ),
  maxUses: MaxUses,
  expiresAt: ExpiresAt,
  type: Type.Optional(stringEnum(['TRIAL_EXTENSION'])),
  value: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'Days. Default: `trialDurationDays` of the system settings',
    }),
  ),
});
export type CreateCouponInput = Static<typeof CreateCouponInput>;

export const createCoupon = {
  ...adminOperation,
  operationId: 'createCoupon',
  summary: 'Create a coupon',
  description: 'Creates a coupon that extends the trial by `value` days. The body is optional.',
  body: nullable(CreateCouponInput),
  response: {
    201: Type.Object({ success, data: Type.Object(FIELDS), message: Type.String() }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 409: orInProgress('Another coupon has this code; codes are case-insensitive') }),
  },
} satisfies Operation;

export const getCoupon = {
  ...adminOperation,
  operationId: 'getCoupon',
  summary: 'Get a coupon',
  description: 'Returns the coupon with the number of its uses.',
  params: IdParams,
  response: { 200: Type.Object({ success, coupon: ref(Coupon) }), ...errorResponses(401, 403, 404, 429) },
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
  summary: 'Change a coupon',
  description:
    'Activates or deactivates a coupon, or changes its limits. A `maxUses` below the number of uses, or an `expiresAt` in the past, ends it.',
  params: IdParams,
  body: ChangeCouponInput,
  response: {
    200: Type.Object({
      success,
      coupon: Type.Object({
        id: FIELDS.id,
        isActive: FIELDS.isActive,
        maxUses: FIELDS.maxUses,
        expiresAt: Type.Optional({ ...FIELDS.expiresAt, description: 'Present if the request gave one' }),
        updatedAt: Instant,
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;

export const deleteCoupon = {
  ...adminOperation,
  operationId: 'deleteCoupon',
  summary: 'Delete a coupon',
  description: 'Trials that the coupon has extended stay extended.',
  params: IdParams,
  response: { 200: Type.Object({ success, message: Type.String() }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;

export const ListCouponUsesQuery = Type.Object({
  limit: pageLimit(1000, 1000),
  offset: Offset,
});
export type ListCouponUsesQuery = Static<typeof ListCouponUsesQuery>;

export const listCouponUses = {
  ...adminOperation,
  operationId: 'listCouponUses',
  summary: 'List uses of a coupon',
  description: 'Returns the accounts that used the coupon, newest first. Pages by `limit` and `offset`.',
  params: IdParams,
  querystring: ListCouponUsesQuery,
  response: {
    200: Type.Object({
      success,
      usage: Type.Array(
        Type.Object({ userId: Id, userEmail: Type.String(), userName: Type.String(), usedAt: Instant }),
        { description: 'Without accounts that have been deleted' },
      ),
      summary: Type.Object({
        totalUses: Type.Integer(),
        maxUses: nullable(Type.Integer()),
        remainingUses: nullable(Type.Integer({ description: 'Null for no limit' })),
      }),
    }),
    ...errorResponses(401, 403, 404, 429),
  },
} satisfies Operation;
