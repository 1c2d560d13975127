import type { ExchangeParameter, RouteExchange } from '../kernel/exchange.ts'

const TEXT = { type: 'string' } as const
const EVERY = {
  'Content-Security-Policy': "Only the relay's own scripts run, and requests go to the relay, the issuer and configured origins.",
  'Referrer-Policy': '`no-referrer`.',
  'Cross-Origin-Opener-Policy': '`same-origin`.',
  Vary: '`Accept-Encoding, Origin`.',
} as const
const FILE = {
  ...EVERY,
  'Cache-Control': '`public, max-age=31536000, immutable` for a name with a hash, otherwise `no-cache`.',
  ETag: 'Names the content.',
  'Content-Encoding': '`br` or `gzip` when the client takes it.',
} as const
const path: Readonly<Record<string, ExchangeParameter>> = { file: { description: 'Name of a file.', schema: TEXT } }

const file = (description: string, type: string, schema: object) =>
  ({
    requestHeaders: {
      'Accept-Encoding': { description: 'Encodings the caller takes.', schema: TEXT },
      'If-None-Match': { description: 'ETags the caller holds.', schema: TEXT },
    },
    responses: {
      200: { description, content: { [type]: { ...schema } }, headers: FILE },
      304: { description: 'The caller holds it.', headers: FILE },
    },
    // NOT_FOUND when the console is not enabled or has no such file.
    errors: ['NOT_FOUND'],
  }) as const satisfies RouteExchange

/** Answers of the routes of the console. [REST-36] */
export const CONSOLE_EXCHANGES = {
  redirect: {
    responses: { 302: { description: 'Where the page is.', headers: { ...EVERY, Location: 'The path with a slash.' } } },
    errors: ['NOT_FOUND'],
  },
  page: file('The page.', 'text/html', TEXT),
  config: {
    responses: {
      200: {
        description: 'What the page needs to sign somebody in.',
        content: {
          'application/json': {
            title: 'ConsoleConfig',
            type: 'object',
            properties: {
              issuer: TEXT,
              clientId: TEXT,
              scope: TEXT,
              authorizeParams: { type: 'object', additionalProperties: TEXT },
              mcpUrl: {
                type: ['string', 'null'],
                description: '`null` when agents cannot reach the relay from where the page is.',
              },
              version: TEXT,
            },
            required: ['issuer', 'clientId', 'scope', 'authorizeParams', 'mcpUrl', 'version'],
          },
        },
        headers: { ...EVERY, 'Cache-Control': '`no-cache`.' },
      },
    },
    errors: ['NOT_FOUND'],
  },
  file: { ...file('A file beside the page.', '*/*', {}), path },
  asset: { ...file('A script, style or picture of the page.', '*/*', {}), path },
} as const satisfies Record<string, RouteExchange>
