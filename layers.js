/**
 * The import table: what each part may import. `scripts/check-layers.ts` refuses an import that is not listed and a permission that
 * nothing uses. Paths are relative to the repository; `ours` names other parts, `ports` parts of which only `*.port.ts` may be imported,
 * `libraries` third-party packages (`node:*` by `node`).
 * Parts are matched by the longest prefix; `suffixes`, at the end of this file, lets some files import more than the rest of their folder.
 * Test files (`*.test.ts`, `*.contract.ts`, `test/`, `testing/`) are not held to the table.
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
  // The nodes that use one store together: who they are, and what this one may do.
  { part: server('nodes'), ours: [server('kernel')], ports: [server('sync')], libraries: [], node: true },
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
  // Rooms whose owner is another node, over the links between nodes.
  {
    part: server('sync/remote'),
    ours: [server('kernel'), server('documents'), server('sync'), server('sync/gateway')],
    libraries: [],
    node: false,
  },
  // The one file that knows the WebSocket library.
  { part: server('sync/gateway/gateway.ts'), ours: [server('auth'), server('sync/gateway')], libraries: ['ws'], node: true },

  // Direct connections to the other nodes.
  {
    part: server('links'),
    ours: [protocol, server('kernel'), server('links/link-socket.ts')],
    ports: [server('sync')],
    libraries: [],
    node: true,
  },
  // The one file of them that knows the WebSocket library.
  { part: server('links/link-socket.ts'), ours: [server('links')], libraries: ['ws'], node: true },

  // HTTP: what a route is, and how requests and replies are handled.
  {
    part: server('http'),
    ours: [server('kernel'), server('auth'), server('access')],
    libraries: [],
    node: true,
  },
  { part: server('http/openapi'), ours: [server('http'), server('kernel')], libraries: [], node: false },
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
    part: server('recovery'),
    ours: [model, server('kernel'), server('access'), server('documents')],
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
    part: server('style-profiles'),
    ours: [protocol, server('kernel'), server('collections')],
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
    part: server('calls'),
    ours: [model, server('kernel'), server('access'), server('documents')],
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
    part: server('share-links'),
    ours: [server('kernel'), server('access'), server('documents')],
    libraries: [],
    node: true,
  },
  {
    part: server('previews'),
    ours: [model, server('kernel'), server('access'), server('documents')],
    libraries: ['@resvg/resvg-js'],
    node: true,
  },
  // What nodes of several tell each other through the store, and what each does about it.
  { part: server('feed'), ours: [server('kernel'), server('documents')], libraries: [], node: false },
  // The page in the browser, as files and headers.
  { part: server('console'), ours: [server('kernel')], libraries: [], node: true },
  {
    part: server('operation'),
    ours: ['kernel', 'auth', 'links', 'sync/gateway', 'sync/gateway/gateway.ts'].map(server),
    ports: [server('documents'), server('share-links'), server('feed')],
    libraries: [],
    node: true,
  },

  // What DOIs stand for, asked of a resolver.
  { part: server('citations'), ours: [model, server('kernel'), server('outbound')], libraries: [], node: false },

  // The MCP endpoint: protocol, sessions and streams over HTTP. What it lists and calls comes through `tool.ts` and `content.ts`.
  {
    part: server('mcp'),
    ours: [model, ...['kernel', 'auth', 'access', 'documents', 'http'].map(server)],
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
  // Several relays share through it what is speed and never truth.
  {
    part: server('drivers/redis'),
    ours: [server('kernel'), server('drivers')],
    ports: ['access', 'feed', 'mcp'].map(server),
    libraries: ['@redis/client'],
    node: true,
  },
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
      'access',
      'auth',
      'documents',
      'sync',
      'nodes',
      'blobs',
      'recovery',
      'collections',
      'share-links',
      'search',
      'feed',
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
      ...['kernel', 'config', 'auth', 'access', 'documents', 'feed', 'search', 'share-links', 'calls', 'console', 'previews'].map(
        server,
      ),
      ...['sync/workers', 'sync/gateway', 'sync/gateway/gateway.ts', 'blobs', 'recovery', 'http', 'http/openapi'].map(server),
      ...['sync/remote', 'links', 'nodes', 'operation', 'outbound', 'citations', 'mcp', 'mcp/tools', 'mcp/resources'].map(server),
      ...['drivers', 'drivers/sql', 'drivers/s3', 'drivers/redis'].map(server),
      '*.routes.ts',
    ],
    ports: [server('sync')],
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
    ours: ['kernel', 'config', 'auth', 'nodes', 'compose', 'operation', 'drivers/sql'].map(server),
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

/**
 * Files by the end of their names. Such a file may import its folder, what its folder may, and `ours`. Only parts that list `*` and the
 * suffix may import such files.
 */
export const suffixes = [
  // A route is a value of its feature; only the composition root knows all of them.
  { suffix: '.routes.ts', ours: [server('http')] },
]
