/**
 * The import table: what each part may import. `scripts/check-layers.ts` refuses an import that is not listed and a permission that
 * nothing uses. Paths are relative to the repository; `ours` names other parts, `ports` parts of which only `*.port.ts` may be imported,
 * `libraries` third-party packages (`node:*` by `node`).
 * Parts are matched by the longest prefix; test files (`*.test.ts`, `*.contract.ts`, `test/`, `testing/`) are not held to it.
 */
const server = (name) => `packages/server/src/${name}`
const model = 'packages/model/src'
const protocol = 'packages/protocol/src'

export const layers = [
  { part: model, ours: [], libraries: ['markdown-it', 'parse5'], node: false },
  { part: protocol, ours: [], libraries: [], node: false },
  {
    part: 'packages/prosemirror/src',
    ours: [model],
    libraries: ['prosemirror-model', 'prosemirror-state', 'prosemirror-view', 'y-prosemirror', 'y-protocols', 'yjs'],
    node: false,
  },
  { part: 'packages/client/src', ours: [protocol], libraries: ['yjs', 'y-protocols'], node: false },
  // The page in the browser. Its features use what everybody builds on, never the server.
  {
    part: 'packages/console/src',
    ours: ['packages/client/src', model, 'packages/prosemirror/src'],
    libraries: [
      '@preact/signals',
      'oauth4webapi',
      'preact',
      'prosemirror-commands',
      'prosemirror-inputrules',
      'prosemirror-keymap',
      'prosemirror-model',
      'prosemirror-schema-list',
      'prosemirror-state',
      'prosemirror-tables',
      'prosemirror-view',
      'y-prosemirror',
      'y-protocols',
      'yjs',
    ],
    node: false,
  },
  // The try-out: relay, issuer, samples and an agent together.
  {
    part: 'packages/docrelay/src',
    ours: [protocol, 'packages/client/src', 'packages/dev-issuer/src', server('kernel'), server('config')],
    libraries: ['@modelcontextprotocol/client'],
    node: true,
  },
  { part: 'packages/dev-issuer/src', ours: [], libraries: ['jose', 'oidc-provider'], node: true },

  // The line of features; each may use what stands before it.
  { part: server('kernel'), ours: [], libraries: ['pino', 'prom-client'], node: true },
  { part: server('config'), ours: [model], libraries: ['smol-toml'], node: true },
  { part: server('auth'), ours: [server('kernel'), server('outbound')], libraries: [], node: true },
  { part: server('access'), ours: [server('kernel'), server('auth')], libraries: [], node: false },
  {
    part: server('documents'),
    ours: [model, protocol, server('kernel'), server('access')],
    ports: [server('blobs')],
    libraries: [],
    node: true,
  },
  // Live documents: the ports and messages, what a document worker is made of from the inside out, and the sockets in front.
  { part: server('sync'), ours: [server('kernel'), server('documents')], libraries: [], node: false },
  { part: server('sync/prose'), ours: [model], libraries: ['yjs'], node: false },
  { part: server('sync/binding'), ours: [model, server('sync/prose')], libraries: ['yjs'], node: true },
  { part: server('sync/late-words'), ours: [model, server('sync/binding')], libraries: ['yjs'], node: false },
  { part: server('sync/guard'), ours: [protocol], libraries: ['yjs'], node: false },
  {
    part: server('sync/room'),
    ours: [
      model,
      protocol,
      server('kernel'),
      server('documents'),
      server('sync'),
      server('sync/binding'),
      server('sync/late-words'),
      server('sync/guard'),
    ],
    ports: [server('recovery')],
    libraries: ['yjs'],
    node: false,
  },
  {
    part: server('sync/workers'),
    ours: [protocol, server('kernel'), server('documents'), server('sync'), server('sync/guard'), server('sync/room')],
    ports: [server('recovery')],
    libraries: [],
    node: true,
  },
  {
    part: server('sync/gateway'),
    ours: [protocol, server('kernel'), server('auth'), server('access'), server('documents'), server('sync')],
    libraries: ['yjs'],
    node: true,
  },
  // The one file that knows the WebSocket library.
  { part: server('sync/gateway/gateway.ts'), ours: [server('auth'), server('sync/gateway')], libraries: ['ws'], node: true },

  // HTTP: a route is a value of its feature; only the table knows all of them.
  { part: server('http/route.ts'), ours: [server('kernel'), server('auth'), server('access')], libraries: [], node: false },
  {
    part: server('http'),
    ours: [server('http/route.ts'), server('kernel'), server('auth'), server('access')],
    libraries: ['hono', '@hono/node-server'],
    node: true,
  },
  {
    part: server('http/openapi'),
    ours: [server('http'), server('http/route.ts'), server('kernel')],
    libraries: [],
    node: false,
  },
  {
    part: server('auth/auth.routes.ts'),
    ours: [server('http/route.ts'), server('kernel'), server('auth')],
    libraries: [],
    node: false,
  },
  {
    part: server('documents/documents.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('documents/purge-member.routes.ts'),
    ours: [server('http/route.ts'), server('kernel'), server('documents')],
    libraries: [],
    node: false,
  },
  // What a workspace has around its documents.
  // Requests to addresses that callers name.
  { part: server('outbound'), ours: [server('kernel')], libraries: [], node: true },
  {
    part: server('blobs'),
    ours: [server('kernel'), server('access'), server('outbound')],
    libraries: [],
    node: false,
  },
  {
    part: server('blobs/blobs.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('blobs')],
    libraries: [],
    node: false,
  },
  {
    part: server('blobs/ingest.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('blobs')],
    libraries: [],
    node: false,
  },
  {
    part: server('recovery'),
    ours: [model, server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('recovery/recovery.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('recovery'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('collections'),
    ours: [protocol, server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('collections/collections.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('collections'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('style-profiles'),
    ours: [protocol, server('kernel'), server('collections')],
    libraries: [],
    node: false,
  },
  {
    part: server('style-profiles/style-profiles.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('collections'), server('style-profiles')],
    libraries: [],
    node: false,
  },
  {
    part: server('usage'),
    ours: [protocol, server('access'), server('kernel')],
    ports: ['documents', 'blobs', 'collections'].map(server),
    libraries: [],
    node: false,
  },
  {
    part: server('usage/usage.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('usage')],
    libraries: [],
    node: false,
  },
  {
    part: server('calls'),
    ours: [model, server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('calls/calls.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('calls'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('search'),
    ours: [model, server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('search/search.routes.ts'),
    ours: [model, server('http'), server('http/route.ts'), server('kernel'), server('search')],
    libraries: [],
    node: false,
  },
  {
    part: server('share-links'),
    ours: [server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: true,
  },
  {
    part: server('share-links/share-links.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('share-links'), server('documents')],
    libraries: [],
    node: false,
  },
  {
    part: server('previews'),
    ours: [model, server('kernel'), server('access'), server('documents')],
    libraries: ['@resvg/resvg-js'],
    node: true,
  },
  {
    part: server('previews/previews.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('documents'), server('previews')],
    libraries: [],
    node: false,
  },
  // The page in the browser, as files and headers.
  { part: server('console'), ours: [server('kernel')], libraries: [], node: true },
  {
    part: server('console/console.routes.ts'),
    ours: [server('http'), server('http/route.ts'), server('kernel'), server('console')],
    libraries: [],
    node: false,
  },
  {
    part: server('operation'),
    ours: [server('http/route.ts'), server('kernel'), server('auth'), server('sync/gateway'), server('sync/gateway/gateway.ts')],
    ports: [server('documents'), server('share-links')],
    libraries: [],
    node: true,
  },
  {
    part: server('http/route-table.ts'),
    ours: [
      server('http/route.ts'),
      server('auth/auth.routes.ts'),
      server('documents/documents.routes.ts'),
      ...['blobs/blobs.routes.ts', 'blobs/ingest.routes.ts'].map(server),
      ...['recovery/recovery.routes.ts', 'previews/previews.routes.ts'].map(server),
      ...['documents/purge-member.routes.ts', 'collections/collections.routes.ts'].map(server),
      ...[
        'style-profiles/style-profiles.routes.ts',
        'usage/usage.routes.ts',
        'share-links/share-links.routes.ts',
        'search/search.routes.ts',
        'calls/calls.routes.ts',
        'console/console.routes.ts',
      ].map(server),
      server('http/openapi'),
      server('mcp'),
      server('operation'),
    ],
    libraries: [],
    node: false,
  },

  // What DOIs stand for, asked of a resolver.
  { part: server('citations'), ours: [model, server('kernel'), server('outbound')], libraries: [], node: false },

  // The MCP endpoint: protocol, sessions and streams over HTTP. What it lists and calls comes through `tool.ts` and `content.ts`.
  {
    part: server('mcp'),
    ours: [model, ...['kernel', 'auth', 'access', 'documents', 'http', 'http/route.ts'].map(server)],
    libraries: [],
    node: true,
  },
  // The tools, each over the services that it needs.
  {
    part: server('mcp/tools'),
    ours: [model, ...['kernel', 'access', 'citations', 'documents', 'blobs', 'previews', 'search', 'mcp'].map(server)],
    libraries: [],
    node: true,
  },
  // Resources, prompts and completion.
  {
    part: server('mcp/resources'),
    ours: [model, ...['kernel', 'access', 'documents', 'previews', 'mcp', 'mcp/tools'].map(server)],
    libraries: [],
    node: true,
  },

  // What operators do with a store: copies of it and looks into it, beside a running relay.
  { part: server('backup'), ours: [server('kernel')], ports: [server('blobs')], libraries: [], node: true },
  {
    part: server('verify'),
    ours: [model, ...['kernel', 'sync/binding', 'sync/room'].map(server)],
    ports: ['blobs', 'documents', 'sync'].map(server),
    libraries: ['yjs'],
    node: true,
  },

  {
    part: server('repair'),
    ours: [model, ...['kernel', 'sync/binding', 'sync/room'].map(server)],
    ports: ['documents', 'sync', 'verify'].map(server),
    libraries: ['yjs'],
    node: false,
  },

  // Drivers see ports; only compose sees drivers.
  { part: server('drivers'), ours: [server('kernel')], ports: [server('access'), server('blobs')], libraries: [], node: true },
  {
    part: server('drivers/s3'),
    ours: [server('kernel')],
    ports: [server('blobs')],
    libraries: ['@aws-sdk/client-s3', '@smithy/protocol-http', '@smithy/signature-v4'],
    node: true,
  },
  {
    part: server('drivers/sql'),
    // The guard reads an update as bytes: whose structs it brings is kept when a document is removed.
    ours: [model, server('kernel'), server('sync/guard')],
    ports: [
      'auth',
      'documents',
      'sync',
      'blobs',
      'recovery',
      'collections',
      'share-links',
      'search',
      'backup',
      'verify',
      'repair',
    ].map(server),
    libraries: ['kysely', 'pg'],
    node: true,
  },
  // The composition root: `compose.ts` says the order of the start, the files of `compose/` open one part of it each.
  {
    part: server('compose'),
    ours: [
      protocol,
      ...['kernel', 'config', 'auth', 'auth/auth.routes.ts', 'access', 'documents', 'documents/documents.routes.ts'].map(server),
      ...['documents/purge-member.routes.ts', 'collections/collections.routes.ts', 'usage/usage.routes.ts'].map(server),
      ...[
        'style-profiles/style-profiles.routes.ts',
        'share-links',
        'share-links/share-links.routes.ts',
        'search',
        'search/search.routes.ts',
        'calls',
        'calls/calls.routes.ts',
        'console',
        'console/console.routes.ts',
      ].map(server),
      ...['previews', 'previews/previews.routes.ts', 'sync/workers', 'sync/gateway', 'sync/gateway/gateway.ts'].map(server),
      ...['blobs', 'blobs/blobs.routes.ts', 'recovery', 'recovery/recovery.routes.ts', 'http', 'http/route.ts', 'operation'].map(
        server,
      ),
      ...['http/openapi', 'http/route-table.ts'].map(server),
      ...['blobs/ingest.routes.ts', 'outbound', 'citations', 'mcp', 'mcp/tools', 'drivers', 'drivers/sql', 'drivers/s3'].map(
        server,
      ),
      server('mcp/resources'),
    ],
    libraries: [],
    node: true,
  },
  // What the commands beside `serve` run.
  {
    part: server('compose/tools.ts'),
    ours: ['kernel', 'compose', 'config', 'backup', 'verify', 'repair', 'drivers/sql', 'operation'].map(server),
    ports: [server('blobs')],
    libraries: [],
    node: true,
  },
  {
    part: server('compose.ts'),
    ours: ['kernel', 'auth', 'compose', 'operation', 'drivers/sql'].map(server),
    libraries: [],
    node: false,
  },
  {
    part: server('compose-worker.ts'),
    ours: ['kernel', 'sync', 'sync/workers', 'drivers/sql'].map(server),
    libraries: [],
    node: true,
  },
  {
    part: server('commands'),
    ours: ['kernel', 'config', 'compose.ts', 'compose', 'compose/tools.ts', 'verify'].map(server),
    libraries: [],
    node: true,
  },
  { part: server('main.ts'), ours: ['commands', 'compose.ts'].map(server), libraries: [], node: true },
]
