import { namesEtag } from '../http/etag.ts'
import { NO_BODY, type Route, type RouteDeclaration, type RouteReply, type RouteRequest } from '../http/route.ts'
import { RelayError } from '../kernel/errors.ts'
import { CONSOLE_EXCHANGES } from './console.exchanges.ts'
import { ASSETS, chooseEncoding, type ConsoleFile, type ConsoleFiles, START_FILE } from './console-files.ts'
import { consoleConfig, type ConsoleFacts, consoleHeaders, type McpPlace } from './console-page.ts'

const DEFAULT_PATH = '/console'
/** Members of every console route. The configuration replaces `headers`. */
const OPEN = {
  method: 'GET',
  credential: 'none',
  body: NO_BODY,
  needs: 'none',
  whileDraining: true,
  headers: (): Readonly<Record<string, string>> => ({}),
} as const

/** The routes of the console as data, at its default path. [CON-1] */
export const CONSOLE_ROUTES = {
  redirect: {
    ...OPEN,
    path: DEFAULT_PATH,
    summary: 'Leads to the console.',
    exchange: CONSOLE_EXCHANGES.redirect,
  },
  page: {
    ...OPEN,
    path: `${DEFAULT_PATH}/`,
    summary: 'The console: a page in which people read and write documents.',
    exchange: CONSOLE_EXCHANGES.page,
  },
  config: {
    ...OPEN,
    path: `${DEFAULT_PATH}/config.json`,
    summary: 'What the console needs to sign somebody in.',
    exchange: CONSOLE_EXCHANGES.config,
  },
  file: {
    ...OPEN,
    path: `${DEFAULT_PATH}/:file`,
    summary: 'A file beside the page of the console.',
    exchange: CONSOLE_EXCHANGES.file,
  },
  asset: {
    ...OPEN,
    path: `${DEFAULT_PATH}/${ASSETS}/:file`,
    summary: 'A script, style or picture of the console.',
    exchange: CONSOLE_EXCHANGES.asset,
  },
} as const satisfies Record<string, RouteDeclaration>

export interface ConsoleRoutesDeps {
  /** `[console] path`, which begins with a slash and does not end with one. */
  readonly path?: string
  readonly files: ConsoleFiles
  readonly facts: ConsoleFacts
  /** Called for each request, because a port is known only when it is bound. */
  readonly mcp: () => McpPlace
}

/** The routes of an enabled console. They need no credential and give no right: the page calls the relay with the person's own token. [CON-7] */
export function consoleRoutes({ path = DEFAULT_PATH, files, facts, mcp }: ConsoleRoutesDeps): readonly Route[] {
  const headers = (): Readonly<Record<string, string>> => consoleHeaders(facts)
  const at = (route: RouteDeclaration, handle: Route['handle']): Route => ({
    ...route,
    path: path + route.path.slice(DEFAULT_PATH.length),
    headers,
    handle,
  })
  const send = (nameOf: (params: RouteRequest['params']) => string) => (request: RouteRequest) =>
    Promise.resolve(sent(files.get(nameOf(request.params)), request))
  return [
    // The location is relative, so that it also works behind a proxy that serves the relay below a path of its own.
    at(CONSOLE_ROUTES.redirect, async () => ({ kind: 'redirect', location: `${path.slice(path.lastIndexOf('/') + 1)}/` })),
    at(
      CONSOLE_ROUTES.page,
      send(() => START_FILE),
    ),
    at(CONSOLE_ROUTES.config, async ({ origin }) => ({
      kind: 'json',
      value: consoleConfig(facts, mcp(), origin),
      headers: { 'Cache-Control': 'no-cache' },
    })),
    at(
      CONSOLE_ROUTES.file,
      // A name with an encoded slash would be a file of another route.
      send(({ file = '' }) => (file.includes('/') ? '' : file)),
    ),
    at(
      CONSOLE_ROUTES.asset,
      send(({ file }) => `${ASSETS}/${file}`),
    ),
  ]
}

function sent(file: ConsoleFile | undefined, request: RouteRequest): RouteReply {
  if (file === undefined) throw new RelayError('NOT_FOUND', 'The console has no such file.', { resource: 'file' })
  const caching = {
    'Cache-Control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    // The ETag is weak, because all encodings of the content share it.
    ETag: `W/${file.etag}`,
  }
  const known = request.header('if-none-match')
  if (known !== undefined && namesEtag(known, file.etag)) return { kind: 'not-modified', headers: caching }
  const encoding = chooseEncoding(request.header('accept-encoding'), file)
  return {
    kind: 'bytes',
    bytes: file.bytes[encoding] ?? file.bytes.identity,
    headers: { ...caching, 'Content-Type': file.mediaType, ...(encoding !== 'identity' && { 'Content-Encoding': encoding }) },
  }
}
