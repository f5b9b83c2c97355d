/** The pages of errors. */
export const errors = {
  backHome: 'Back to Home',
  notFound: 'Page not found',
  notFoundText: 'This page does not exist, or it belongs to another account.',
  notAllowed: 'Not allowed',
  notAllowedText: 'Your account does not have this permission.',
  notConfirmed: 'Not confirmed',
  tooManyRequests: 'Too many requests',
  tryAgainIn: (wait: string) => `Try again in ${wait}.`,
  unavailable: 'Carillon is not available',
  quotaUsed: 'Quota used',
  signedOut: 'Signed out',
  signedOutText: 'Your session has ended. Sign in again.',
  conflict: 'Changed by someone else',
  internal: 'Something went wrong',
  internalText: 'The error is in the log of the server.',
  invalid: 'Invalid request',
  invalidField: (field: string | undefined, problem: string | undefined) =>
    `${field ?? 'The request'}: ${problem ?? 'is not valid'}.`,
  unreadable: 'The request could not be read.',
};
