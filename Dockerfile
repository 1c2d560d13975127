# syntax=docker/dockerfile:1
# One image for the relay and the commands beside it; `--target dev-issuer` builds the issuer for trying out.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/model/package.json packages/model/
COPY packages/protocol/package.json packages/protocol/
COPY packages/client/package.json packages/client/
COPY packages/prosemirror/package.json packages/prosemirror/
COPY packages/server/package.json packages/server/
COPY packages/dev-issuer/package.json packages/dev-issuer/
COPY packages/console/package.json packages/console/
COPY packages/docrelay/package.json packages/docrelay/
COPY bench/package.json bench/
# The image brings its own Node, so that of the repository stays out.
RUN npm ci --omit=dev --workspace packages/server --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin/node

FROM packages AS build
ARG COMMIT=unknown
ARG BUILT=unknown
COPY packages packages
# What /version says; tests are left out of the image.
RUN node -e "const f='packages/server/package.json',fs=require('fs'),m=JSON.parse(fs.readFileSync(f));fs.writeFileSync(f,JSON.stringify({...m,commit:process.argv[1],built:process.argv[2]},null,2))" "$COMMIT" "$BUILT" \
  && find packages \( -name '*.test.ts' -o -name '*.contract.ts' -o -name testing -o -path 'packages/server/src/test' \) -prune -exec rm -rf {} +

# The bundle of the relay and the page, with the bundler that the console brings.
FROM ${NODE_IMAGE} AS bundles
WORKDIR /app
COPY --from=build /app ./
COPY scripts scripts
RUN npm ci --omit=dev --workspace packages/server --workspace packages/console --no-audit --no-fund \
  && npm run build:console && npm run build:relay

FROM ${NODE_IMAGE} AS dev-issuer
WORKDIR /app
COPY --from=build /app ./
RUN npm ci --omit=dev --workspace packages/dev-issuer --no-audit --no-fund && rm -rf node_modules/node-linux-* node_modules/.bin/node
USER node
ENTRYPOINT ["node", "packages/dev-issuer/src/main.ts"]
CMD ["--data-dir", "/tmp/issuer"]

FROM ${NODE_IMAGE} AS relay
# Fewer arenas of malloc: threads leave less memory unused.
ENV NODE_ENV=production RELAY_DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
COPY LICENSE NOTICE ./
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/packages/server/package.json packages/server/
COPY --from=build /app/packages/server/bin packages/server/bin
COPY --from=bundles /app/packages/server/dist packages/server/dist
COPY --from=bundles /app/packages/console/dist packages/console/dist
# The only place that is written to; the rest of the image may be read-only. [OPS-12]
RUN mkdir -m 0700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 9876
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.RELAY_PORT||9876}/livez`).then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
STOPSIGNAL SIGTERM
# A smaller heap for new objects: without the option the main thread keeps 128 MB of it once it was busy.
ENTRYPOINT ["node", "--max-semi-space-size=16", "packages/server/bin/relay.js"]
CMD ["serve"]
