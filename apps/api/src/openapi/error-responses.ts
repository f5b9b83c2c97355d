import { DEFAULT_ERROR_DESCRIPTIONS } from '@carillon/contract';
import { EXAMPLES } from '@carillon/contract/examples';
import { accessOf, type Document, operationsOf, type Placed } from './document.ts';
import { refusalExample } from './error-examples.ts';

type Status = keyof typeof DEFAULT_ERROR_DESCRIPTIONS;

/**
 * Says of each refusal what it means here, where the contract has not done so, and gives an example of it. `details` are
 * the messages of a validation error of the operation, where it can have one.
 */
export function addRefusals(
  document: Document,
  details: (operationId: string) => Record<string, string[]> | null,
): void {
  for (const placed of operationsOf(document)) {
    const { operationId = '', responses = {} } = placed.operation;
    const said = EXAMPLES[operationId]?.errors ?? {};
    for (const [key, response] of Object.entries(responses)) {
      const status = Number(key) as Status;
      if (response.description === DEFAULT_ERROR_DESCRIPTIONS[status]) response.description = meaningOf(placed, status);
      const media = response.content?.['application/json'];
      if (!(status in DEFAULT_ERROR_DESCRIPTIONS) || !media) continue;
      media.example = refusalExample(placed, status, media, said[status], details(operationId));
    }
  }
}

function meaningOf(placed: Placed, status: Status): string {
  const access = accessOf(placed.operation);
  switch (status) {
    case 400:
      return 'The request cannot be read or is not valid: `details` has the messages by field';
    case 401:
      return access === 'cron'
        ? 'The secret of the scheduler is missing or wrong'
        : 'Not signed in: the session is missing, has ended, or its account is deactivated or gone';
    case 402:
      return 'A quota of the plan is used up, or the trial has ended: `details` says which, and until when';
    case 403:
      return meaningOfForbidden(placed);
    case 404:
      if (access === 'public') return 'There is none of this name';
      return access === 'admin' ? 'There is none of this id' : 'There is none of this id, or it is not yours';
    case 429:
      return 'Over the limit: wait for as long as `Retry-After` says';
    case 500:
      return 'A fault of the service; its log has the cause under the `X-Request-ID`';
    case 503:
      return 'Maintenance, overload, or something that the service needs is away: try again after `Retry-After`';
    default:
      return DEFAULT_ERROR_DESCRIPTIONS[status];
  }
}

/** The guard of access and the guard against other sites, in the order in which a caller meets them. */
function meaningOfForbidden({ method, operation }: Placed): string {
  const access = accessOf(operation);
  const otherSite = 'A page of another site made the browser send this';
  if (access !== 'admin') return otherSite;
  const notAdmin = 'The account is no `ADMIN`, or `X-Admin-Key` is missing or wrong';
  return method === 'get' ? notAdmin : `${notAdmin}; or a page of another site made the browser send this`;
}
