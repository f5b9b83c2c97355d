import type { FastifyInstance } from 'fastify';

interface Served {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
  components: { responses: Record<string, object> };
}

/** The OpenAPI document that `app` serves, with the responses that operations share in each of them. */
export async function readServedDocument(app: FastifyInstance) {
  const document = (await app.inject('/openapi.json')).json();
  const { paths, components } = document as Served;
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, { $ref }] of Object.entries(responses)) {
      if ($ref) responses[status] = components.responses[$ref.split('/').at(-1) ?? ''] ?? {};
    }
  }
  return document;
}
