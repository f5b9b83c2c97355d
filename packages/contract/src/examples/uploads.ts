import type * as integrations from '../integrations.ts';
import type * as uploads from '../uploads.ts';
import type { ExamplesFor } from './example.ts';
import { NOW, quotaExceeded, success, UPLOAD } from './fixtures.ts';

const BYTES = 'day,visits\n2026-11-19,120\n2026-11-20,131\n';
const KEY = `${'3f9c2e71a05b8d46'.repeat(3)}.csv`;
const MIB = 1024 * 1024;

const rejected = (error: string) => ({ valid: false, error });

export const uploadsExamples: ExamplesFor<typeof uploads> & ExamplesFor<typeof integrations> = {
  createUpload: {
    body: { file: BYTES },
    response: {
      200: {
        url: `https://files.example.com/${KEY}`,
        name: 'visits.csv',
        size: BYTES.length,
        type: 'text/csv',
        uploadedAt: NOW,
        storage: 'blob',
      },
    },
    errors: {
      400: {
        success: false,
        error: 'Validation error',
        details: { file: ['does not contain a .pdf file'] },
      },
      402: quotaExceeded('storage', 100 * MIB, 100 * MIB),
    },
  },
  deleteUpload: {
    body: { id: UPLOAD },
    response: { 200: { success } },
    errors: { 403: 'This file belongs to another user.', 404: 'File not found' },
  },
  getFile: { params: { key: KEY }, response: { 200: BYTES }, errors: { 404: 'File not found' } },
  validateNotes: {
    body: { apiKey: 'ntn_an_example_and_no_key' },
    response: {
      200: {
        valid: true,
        workspace: { name: "Alice's notes", owner: 'Alice', id: '5d0e8b7a-2c41-4f96-b3a8-7e19c6d2f05b' },
      },
    },
    errors: {
      400: rejected('Notion refused the key: it is wrong, or was revoked.'),
      503: 'Notion did not answer within 5 s, so the key could not be checked. Try again later.',
    },
  },
  validateDesign: {
    body: { token: 'figd_an_example_and_no_token' },
    response: { 200: { valid: true, user: { name: 'Alice', email: 'alice@example.com', id: '1094278300215' } } },
    errors: {
      400: rejected('Figma refused the token: it is wrong, has expired, or was revoked.'),
      503: 'Figma did not answer within 5 s, so the token could not be checked. Try again later.',
    },
  },
};
